extension Metadata {
    /// Every write with its path, in the order of keys: the form in which metadata is stored.
    public var writes: [(path: [String], write: MetadataWrite)] {
        var all: [(path: [String], write: MetadataWrite)] = []
        root.collect(at: [], into: &all)
        return all
    }

    /// Metadata made again from its writes.
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
