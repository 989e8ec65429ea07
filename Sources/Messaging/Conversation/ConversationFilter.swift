/// Which conversations of a list somebody wants to see (X9); all conditions have to hold.
public struct ConversationFilter: Equatable, Sendable {
    /// Most items of a list that are judged for one answer; a longer one has to be narrowed by time.
    public static let limit = 10_000

    /// Users who all take part.
    public var participants: [UserID] = []
    /// Whether nobody else may.
    public var isExact = false
    /// Whether it is the distinct one of its participants, or none.
    public var isDistinct: Bool?
    /// Texts that stand at places of the metadata.
    public var metadata: [MetadataCondition] = []
    /// It was made later than that.
    public var createdAfter: Timestamp?
    /// It was made earlier than that.
    public var createdBefore: Timestamp?

    /// No condition.
    public init() {}

    /// A text at a place of the metadata.
    public struct MetadataCondition: Equatable, Sendable {
        /// Keys from the root; at least one.
        public let path: [String]
        /// What stands there, byte by byte.
        public let value: String

        /// A condition.
        public init(path: [String], value: String) {
            self.path = path
            self.value = value
        }

        func holds(in tree: MetadataTree) -> Bool {
            let place = path.reduce(Optional(tree)) { tree, key in tree?[key] }
            return place == .text(value)
        }
    }

    /// Whether everything passes.
    public var isEmpty: Bool { self == ConversationFilter() }

    /// Whether a conversation passes.
    ///
    /// - Parameters:
    ///   - present: Who is shown as taking part; nobody to one who takes part no more (R14).
    ///   - metadata: What is shown of it.
    public func admits(
        _ present: Participants, isDistinct: Bool, metadata: MetadataTree, createdAt: Timestamp
    ) -> Bool {
        if let createdAfter, createdAt <= createdAfter { return false }
        if let createdBefore, createdAt >= createdBefore { return false }
        if let wanted = self.isDistinct, wanted != isDistinct { return false }
        let asked = Participants(participants)
        guard asked.users.allSatisfy(present.contains), !isExact || asked.count == present.count
        else { return false }
        return self.metadata.allSatisfy { condition in condition.holds(in: metadata) }
    }
}
