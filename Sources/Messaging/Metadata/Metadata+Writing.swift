extension Metadata {
    /// Replaces all there was by a tree.
    init(replacingAllBy tree: MetadataTree, at moment: Timestamp) {
        set([], to: tree, at: moment)
    }

    /// Replaces whatever is at a path; missing objects on the way come into being (R43–R45).
    ///
    /// - Parameters:
    ///   - path: Keys from the root; empty for the whole tree.
    ///   - moment: Not earlier than any write so far.
    mutating func set(_ path: [String], to tree: MetadataTree, at moment: Timestamp) {
        root.replace(path[...], with: Node(tree, at: moment, isReplacing: true))
    }

    /// Removes a key and everything below it (R46).
    mutating func delete(_ path: [String], at moment: Timestamp) {
        root.replace(path[...], with: Node(write: MetadataWrite(.deleted, at: moment)))
    }

    /// What clients see at a path; `nil` for nothing.
    func tree(at path: [String]) -> MetadataTree? {
        guard !path.isEmpty else { return view }
        return root.node(at: path[...])?.view
    }

    /// Whether clients see anything at a path.
    func holds(_ path: [String]) -> Bool {
        guard let node = root.node(at: path[...]) else { return false }
        return !node.children.isEmpty || (node.write.map { $0.value != .deleted } ?? false)
    }
}

extension Metadata.Node {
    /// The writes of a tree, all at one moment.
    ///
    /// - Parameter isReplacing: Whether it takes the place of whatever was there; else its leaves alone are
    ///   written, and what stands beside them stays.
    init(_ tree: MetadataTree, at moment: Timestamp, isReplacing: Bool) {
        switch tree {
        case .text(let text):
            write = MetadataWrite(.text(text), at: moment)
        case .object(let members):
            if isReplacing || members.isEmpty { write = MetadataWrite(.object, at: moment) }
            for member in members {
                children[member.key] = Metadata.Node(
                    member.value, at: moment, isReplacing: isReplacing)
            }
        }
    }

    fileprivate func node(at path: ArraySlice<String>) -> Metadata.Node? {
        guard let key = path.first else { return self }
        return children[key]?.node(at: path.dropFirst())
    }

    fileprivate mutating func replace(_ path: ArraySlice<String>, with node: Metadata.Node) {
        guard let key = path.first else {
            self = node
            return
        }
        children[key, default: Metadata.Node()].replace(path.dropFirst(), with: node)
    }
}
