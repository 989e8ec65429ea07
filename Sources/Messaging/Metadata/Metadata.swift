/// Metadata as it is kept: for every key its last write, deletions included.
///
/// Clients see the ``view``. Writes carry their time, so copies that went apart merge by a law
/// (``merging(_:)``) instead of one overwriting the other (R47, X1.4).
public struct Metadata: Equatable, Sendable {
    /// One key, the writes below it, and its own last write when there was one.
    struct Node: Equatable, Sendable {
        var write: MetadataWrite?
        var children: [String: Node] = [:]

        var isEmpty: Bool { write == nil && children.isEmpty }
    }

    var root = Node()

    /// No key was ever written.
    public init() {}

    /// What a client gave at creation: a write for each text and each empty object in it.
    ///
    /// It replaces nothing, for nothing was there: where it meets a copy that began elsewhere, each keeps
    /// what the other never named (X1.4).
    public init(_ tree: MetadataTree, at moment: Timestamp) {
        if tree != .empty { root = Node(tree, at: moment, isReplacing: false) }
    }

    /// The tree clients see; keys in the order of their bytes.
    public var view: MetadataTree { root.view ?? .empty }

    /// The time of the latest write; `nil` when nothing was written.
    public var latestWrite: Timestamp? { root.latestWrite }

    /// How many keys are remembered only because they were deleted.
    var deletionCount: Int { root.deletionCount }
}

extension Metadata.Node {
    /// What is seen here; `nil` for nothing.
    ///
    /// A write below, even a deletion, is never older than the one here, so it has made this key
    /// an object; an emptied one stays as `{}` (R46).
    var view: MetadataTree? {
        guard children.isEmpty else {
            return .object(
                children.sorted { left, right in left.key < right.key }.compactMap { key, child in
                    child.view.map { value in MetadataTree.Member(key: key, value: value) }
                })
        }
        return switch write?.value {
        case .text(let text): .text(text)
        case .object: .empty
        case .deleted, nil: nil
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
