extension Metadata {
    /// Both copies in one: per key the later write stays, on equal times the greater (X1.4).
    ///
    /// Commutative, associative and idempotent. A write replaces everything older below its key,
    /// which is what makes a leaf against a subtree come out the same in every order.
    public func merging(_ other: Metadata) -> Metadata {
        var merged = self
        merged.root = root.merging(other.root).dropping(olderThan: nil)
        return merged
    }
}

extension Metadata.Node {
    fileprivate func merging(_ other: Metadata.Node) -> Metadata.Node {
        Metadata.Node(
            write: write.map { mine in other.write.map(mine.winning) ?? mine } ?? other.write,
            children: children.merging(other.children) { mine, theirs in mine.merging(theirs) }
        )
    }

    /// Without the writes that a later write above has replaced.
    fileprivate func dropping(olderThan cover: Timestamp?) -> Metadata.Node {
        var kept = Metadata.Node()
        if let write, cover.map({ cover in write.at >= cover }) ?? true { kept.write = write }
        let cover = [cover, kept.write?.at].compactMap(\.self).max()
        for (key, child) in children {
            let child = child.dropping(olderThan: cover)
            if !child.isEmpty { kept.children[key] = child }
        }
        return kept
    }
}
