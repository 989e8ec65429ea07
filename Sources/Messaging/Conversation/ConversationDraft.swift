extension Conversation {
    /// A conversation somebody asks for; what it holds has been checked.
    public struct Draft: Equatable, Sendable {
        /// Who shall take part, 1 to 25.
        public let participants: Participants
        /// Whether an existing one of exactly these participants serves as well.
        public let isDistinct: Bool
        /// Its metadata; `nil` for none given, which matches any (R7).
        public let metadata: MetadataTree?
        /// The id the caller names in the body.
        public let proposedID: Conversation.ID?

        /// Checks in the order of platform-api 1.6.
        ///
        /// - Throws: `invalid("participants")` for none or more than 25 different ones (R19),
        ///   `invalid("metadata")` for a bad tree (R40–R42).
        public init(
            participants: [UserID], isDistinct: Bool = false, metadata: MetadataTree? = nil,
            proposedID: Conversation.ID? = nil
        ) throws(Rejection) {
            self.participants = Participants(participants)
            guard (1...Participants.limit).contains(self.participants.count) else {
                throw .invalid(
                    "participants", .participantCount,
                    .init(amount: self.participants.count, limit: Participants.limit))
            }
            if let metadata {
                guard case .object = metadata else { throw .invalid("metadata", .metadataObject) }
                try metadata.check(as: "metadata")
                try metadata.checkSize(as: "metadata")
            }
            self.isDistinct = isDistinct
            self.metadata = metadata
            self.proposedID = proposedID
        }
    }
}
