/// The conditions for conversations in a list (X9); all of them must hold.
public struct ConversationFilter: Equatable, Sendable {
    /// The maximum number of list items examined for one response; a longer list must be limited by time.
    public static let limit = 10_000

    /// Users that must all be participants.
    public var participants: [UserID] = []
    /// Whether no other user may be a participant.
    public var isExact = false
    /// Whether the conversation is distinct; `nil` for either.
    public var isDistinct: Bool?
    /// The texts that the metadata must have at given paths.
    public var metadata: [MetadataCondition] = []
    /// The creation is later than this moment.
    public var createdAfter: Timestamp?
    /// The creation is earlier than this moment.
    public var createdBefore: Timestamp?

    /// Creates a filter without conditions.
    public init() {}

    /// A text at a path of the metadata.
    public struct MetadataCondition: Equatable, Sendable {
        /// Keys from the root; at least one.
        private let path: [String]
        /// The text, compared byte by byte.
        private let value: String

        /// A condition.
        public init(path: [String], value: String) {
            self.path = path
            self.value = value
        }

        func holds(in tree: MetadataTree) -> Bool {
            let leaf = path.reduce(Optional(tree)) { tree, key in tree?[key] }
            return leaf == .text(value)
        }
    }

    /// Whether there is no condition.
    public var isEmpty: Bool { self == ConversationFilter() }

    /// Whether a conversation matches.
    ///
    /// - Parameters:
    ///   - present: How many of the users of the condition are participants that the viewer sees; 0 for a former
    ///     participant (R14).
    ///   - count: The number of participants that the viewer sees.
    ///   - metadata: The metadata that the viewer sees.
    public func admits(
        _ present: Int, of count: Int, isDistinct: Bool, metadata: MetadataTree,
        createdAt: Timestamp
    ) -> Bool {
        if let createdAfter, createdAt <= createdAfter { return false }
        if let createdBefore, createdAt >= createdBefore { return false }
        if let wanted = self.isDistinct, wanted != isDistinct { return false }
        let wanted = Participants(participants)
        guard present == wanted.count, !isExact || wanted.count == count else { return false }
        return self.metadata.allSatisfy { condition in condition.holds(in: metadata) }
    }
}
