/// The last write of one key: what was written, and when (X1.4).
public struct MetadataWrite: Equatable, Sendable {
    /// What a write leaves at its key.
    public enum Value: Equatable, Sendable {
        /// The key was removed with everything below.
        case deleted
        /// The key was replaced by an object; its members are writes of their own.
        case object
        /// The key was replaced by text.
        case text(String)
    }

    /// What was written.
    public let value: Value
    /// When; everything below the key that is older has been replaced.
    public let at: Timestamp

    /// One write.
    public init(_ value: Value, at moment: Timestamp) {
        self.value = value
        at = moment
    }

    /// The one that stays when both wrote the same key: the later, else the bytewise greater.
    func winning(against other: MetadataWrite) -> MetadataWrite {
        guard at == other.at else { return at < other.at ? other : self }
        return value.precedes(other.value) ? other : self
    }
}

extension MetadataWrite.Value {
    /// Any total order serves a tie; text beats an object beats nothing, as most is kept then.
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

    /// Same kind, same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.deleted, .deleted), (.object, .object): true
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.deleted, _), (.object, _), (.text, _): false
        }
    }
}
