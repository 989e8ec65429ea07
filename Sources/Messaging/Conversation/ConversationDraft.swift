extension Conversation {
    /// A conversation somebody asks for; what it holds has been checked.
    public struct Draft: Equatable, Sendable {
        /// Who shall take part, at least one.
        public let participants: Participants
        /// Whether an existing one of exactly these participants serves as well.
        public let isDistinct: Bool
        /// Its metadata; `nil` for none given, which matches any (R7).
        public let metadata: MetadataTree?
        /// The id the caller names in the body.
        public let proposedID: Conversation.ID?

        /// Checks in the order of platform-api 1.6.
        ///
        /// - Throws: `invalid("participants")` for none or more different ones than the limits allow
        ///   (R19), `invalid("metadata")` for a bad tree (R40–R42).
        public init(
            participants: [UserID], isDistinct: Bool = false, metadata: MetadataTree? = nil,
            proposedID: Conversation.ID? = nil, _ limits: MessagingLimits = MessagingLimits()
        ) throws(Rejection) {
            self.participants = Participants(participants)
            guard (1...limits.participants).contains(self.participants.count) else {
                throw .invalid(
                    "participants", .participantCount,
                    .init(amount: self.participants.count, limit: limits.participants))
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
