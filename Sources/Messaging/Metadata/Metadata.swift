/// Metadata as stored: the last write of every key, including deletions.
///
/// Clients see the ``view``. Writes have times, so that diverged copies merge (``merging(_:)``) instead of
/// one overwriting the other (R47, X1.4).
public struct Metadata: Equatable, Sendable {
    /// A key with its last write, if there was one, and the writes below it.
    fileprivate struct Node: Equatable, Sendable {
        var write: MetadataWrite?
        var children: [String: Node] = [:]

        var isEmpty: Bool { write == nil && children.isEmpty }
    }

    private var root = Node()

    /// Creates metadata without any write.
    public init() {}

    /// Creates the metadata of a new conversation: a write for each text and each empty object in the tree.
    ///
    /// These writes replace nothing else: a merge with a copy that was created elsewhere has the keys of both (X1.4).
    public init(_ tree: MetadataTree, at moment: Timestamp) {
        if tree != .empty { root = Node(tree, at: moment, isReplacing: false) }
    }

    /// The tree that clients see, with keys in the order of their bytes.
    public var view: MetadataTree { view { text, _ in text } }

    /// Returns the tree that clients see, with something else in the place of each text.
    ///
    /// - Parameter leaf: Returns what replaces a text that was written at a moment.
    public func view(_ leaf: (String, Timestamp) -> String) -> MetadataTree {
        root.view(leaf) ?? .empty
    }

    /// The time of the latest write; `nil` if there is none.
    public var latestWrite: Timestamp? { root.latestWrite }

    /// The number of stored deletions.
    var deletionCount: Int { root.deletionCount }
}

extension Metadata.Node {
    /// Returns the visible tree of this key; `nil` for none.
    ///
    /// A write below this key, even a deletion, is never older than the write of the key itself, so it made the key an
    /// object. An object whose members were all deleted is still shown as `{}` (R46).
    func view(_ leaf: (String, Timestamp) -> String) -> MetadataTree? {
        guard children.isEmpty else {
            return .object(
                children.sorted { left, right in left.key < right.key }.compactMap { key, child in
                    child.view(leaf).map { value in MetadataTree.Member(key: key, value: value) }
                })
        }
        guard let write else { return nil }
        return switch write.value {
        case .text(let text): .text(leaf(text, write.at))
        case .object: .empty
        case .deleted: nil
        }
    }

    var deletionCount: Int {
        children.values.reduce(write?.value == .deleted ? 1 : 0) { count, child in
            count + child.deletionCount
        }
    }

    var latestWrite: Timestamp? {
        children.values.compactMap(\.latestWrite).reduce(write?.at) { latest, moment in
            max(latest ?? moment, moment)
        }
    }
}

/// The last write of one key: what was written, and when (X1.4).
public struct MetadataWrite: Equatable, Sendable {
    /// The effect of a write on its key.
    public enum Value: Equatable, Sendable {
        /// The key was removed with everything below.
        case deleted
        /// The key was replaced by an object; its members are separate writes.
        case object
        /// The key was replaced by text.
        case text(String)
    }

    /// The effect.
    public let value: Value
    /// The moment of the write; older writes below the key are replaced.
    public let at: Timestamp

    /// Creates a write.
    public init(_ value: Value, at moment: Timestamp) {
        self.value = value
        at = moment
    }

    /// Returns the write that remains if both wrote the same key: the later one, on a tie the greater value.
    func winning(against other: MetadataWrite) -> MetadataWrite {
        guard at == other.at else { return at < other.at ? other : self }
        return value.precedes(other.value) ? other : self
    }
}

extension MetadataWrite.Value {
    /// Orders values for a tie: a deletion comes before an object and an object before text, so that the most data
    /// remains.
    fileprivate func precedes(_ other: Self) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)):
            left.utf8.lexicographicallyPrecedes(right.utf8)
        case (_, _): rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .deleted: 0
        case .object: 1
        case .text: 2
        }
    }

    /// Whether both are of the same kind and have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.deleted, .deleted), (.object, .object): true
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.deleted, _), (.object, _), (.text, _): false
        }
    }
}

extension Metadata {
    /// All writes with their paths, in the order of keys: the form in which metadata is stored.
    public var writes: [(path: [String], write: MetadataWrite)] {
        var all: [(path: [String], write: MetadataWrite)] = []
        root.collect(at: [], into: &all)
        return all
    }

    /// Creates metadata from its stored writes.
    public init(writes: some Sequence<(path: [String], write: MetadataWrite)>) {
        for (path, write) in writes {
            root.put(write, at: path[...])
        }
    }
}

extension Metadata.Node {
    fileprivate func collect(
        at path: [String], into all: inout [(path: [String], write: MetadataWrite)]
    ) {
        if let write { all.append((path, write)) }
        for (key, child) in children.sorted(by: { left, right in left.key < right.key }) {
            child.collect(at: path + [key], into: &all)
        }
    }

    fileprivate mutating func put(_ write: MetadataWrite, at path: ArraySlice<String>) {
        guard let key = path.first else {
            self.write = write
            return
        }
        children[key, default: Metadata.Node()].put(write, at: path.dropFirst())
    }
}

extension Metadata {
    /// Creates metadata in which a tree has replaced everything.
    init(replacingAllBy tree: MetadataTree, at moment: Timestamp) {
        set([], to: tree, at: moment)
    }

    /// Replaces the value at a path; missing objects on the way are created (R43–R45).
    ///
    /// - Parameters:
    ///   - path: Keys from the root; empty for the whole tree.
    ///   - moment: The time of the write; not earlier than any write so far.
    mutating func set(_ path: [String], to tree: MetadataTree, at moment: Timestamp) {
        root.replace(path[...], with: Node(tree, at: moment, isReplacing: true))
    }

    /// Removes a key and everything below it (R46).
    mutating func delete(_ path: [String], at moment: Timestamp) {
        root.replace(path[...], with: Node(write: MetadataWrite(.deleted, at: moment)))
    }

    /// Returns the tree that clients see at a path; `nil` for none.
    func tree(at path: [String]) -> MetadataTree? {
        guard !path.isEmpty else { return view }
        return root.node(at: path[...])?.view { text, _ in text }
    }

    /// Whether clients see anything at a path.
    func holds(_ path: [String]) -> Bool {
        guard let node = root.node(at: path[...]) else { return false }
        return !node.children.isEmpty || (node.write.map { $0.value != .deleted } ?? false)
    }
}

extension Metadata.Node {
    /// Creates the writes of a tree, all at one moment.
    ///
    /// - Parameter isReplacing: Whether the tree replaces the former value; otherwise only its leaves are
    ///   written, and other keys stay.
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

extension Metadata {
    /// Merges two copies: for each key the later write remains, at equal times the greater value (X1.4).
    ///
    /// The merge is commutative, associative and idempotent. A write replaces all older writes below its key, so text
    /// and an object at the same key merge to the same result in every order.
    public func merging(_ other: Metadata) -> Metadata {
        var merged = self
        merged.root = root.merging(other.root).dropping(olderThan: nil)
        return merged
    }
}

extension Metadata.Node {
    fileprivate func merging(_ other: Metadata.Node) -> Metadata.Node {
        Metadata.Node(
            write: write.map { own in other.write.map(own.winning) ?? own } ?? other.write,
            children: children.merging(other.children) { left, right in left.merging(right) }
        )
    }

    /// Returns the node without the writes that a later write of a key above replaced.
    ///
    /// - Parameter replacement: The time of the latest write of a key above; `nil` for none.
    fileprivate func dropping(olderThan replacement: Timestamp?) -> Metadata.Node {
        var kept = Metadata.Node()
        if let write, replacement.map({ time in write.at >= time }) ?? true { kept.write = write }
        let latest = [replacement, kept.write?.at].compactMap(\.self).max()
        for (key, child) in children {
            let child = child.dropping(olderThan: latest)
            if !child.isEmpty { kept.children[key] = child }
        }
        return kept
    }
}
