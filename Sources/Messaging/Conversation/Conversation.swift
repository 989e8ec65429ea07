/// Users that exchange messages and share metadata.
public struct Conversation: Equatable, Sendable {
    /// The id of a conversation.
    public typealias ID = Identifier<Conversation>

    /// Its id.
    public let id: ID
    /// The moment of creation.
    public let createdAt: Timestamp
    /// The current participants, in order. Of a wide conversation, all of them are loaded only where they are
    /// needed; ``participantCount`` is always their number.
    public var participants: Participants
    /// The number of current participants.
    public var participantCount: Int
    /// Whether it had more participants than ``MessagingLimits/wideConversation`` when they last changed
    /// (ruling 38).
    public var isWide: Bool
    /// Whether it is the one conversation of exactly these participants (R3).
    public var isDistinct: Bool
    /// The metadata that all participants share.
    public var metadata: Metadata
    /// Whether all participants see it, or only its creator (R50).
    public var isAnnounced: Bool
    /// The moment of deletion for all; `nil` if it was not deleted.
    public var deletedAt: Timestamp?
    /// The position of the last message ever sent, including deleted ones.
    public var lastPosition: Position
    /// The moment when the last message was sent; `nil` if there was none.
    public var lastSentAt: Timestamp?
    /// The number of messages, without deleted ones.
    public var messageCount: Int64
    /// The version: 1 at creation, and higher after each change of participants, distinctness or metadata (X4).
    public var version: Int64

    /// All members.
    ///
    /// - Parameter participantCount: By default the number of the given participants.
    public init(
        id: ID, createdAt: Timestamp, participants: Participants, participantCount: Int? = nil,
        isWide: Bool = false, isDistinct: Bool,
        metadata: Metadata, isAnnounced: Bool = true, deletedAt: Timestamp? = nil,
        lastPosition: Position = .start, lastSentAt: Timestamp? = nil, messageCount: Int64 = 0,
        version: Int64 = 1
    ) {
        self.id = id
        self.createdAt = createdAt
        self.participants = participants
        self.participantCount = participantCount ?? participants.count
        self.isWide = isWide
        self.isDistinct = isDistinct
        self.metadata = metadata
        self.isAnnounced = isAnnounced
        self.deletedAt = deletedAt
        self.lastPosition = lastPosition
        self.lastSentAt = lastSentAt
        self.messageCount = messageCount
        self.version = version
    }
}

extension Conversation {
    /// A validated conversation to create.
    public struct Draft: Equatable, Sendable {
        /// The participants, at least one.
        public let participants: Participants
        /// Whether an existing conversation of exactly these participants is used instead.
        public let isDistinct: Bool
        /// The metadata; `nil` for none, which matches any (R7).
        public let metadata: MetadataTree?
        /// The id that the caller proposes; `nil` for none.
        public let proposedID: Conversation.ID?

        /// Validates in the order of platform-api §1.6.
        ///
        /// - Throws: `invalid("participants")` for none or more participants than the limits allow (R19),
        ///   `invalid("metadata")` for invalid metadata (R40–R42).
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

extension Conversation {
    /// Returns the events of creating a conversation with exactly the users of the draft (R1).
    ///
    /// - Parameter creator: The user that creates it, and the only one that sees it until the first message (R51);
    ///   `nil` for the system, whose conversations all participants see at once (R52).
    public static func creating(
        _ draft: Draft, by creator: UserID? = nil, _ limits: MessagingLimits = MessagingLimits(),
        as id: Conversation.ID, key: Replay.Key? = nil, at now: Timestamp
    ) -> [Event] {
        let conversation = Conversation(
            id: id, createdAt: now, participants: draft.participants,
            isWide: limits.isWide(draft.participants.count),
            isDistinct: draft.isDistinct,
            metadata: draft.metadata.map { tree in Metadata(tree, at: now) } ?? Metadata(),
            isAnnounced: creator == nil)
        return [
            .conversationCreated(ConversationCreated(conversation: conversation, key: key)),
            creator.map { creator in conversation.showing(to: [creator], at: now) },
        ].compactMap(\.self)
    }

    /// Returns the event that makes an existing distinct conversation visible (R53, ruling 15): to all if the
    /// system requested it, otherwise to the user that did; `nil` if nothing changes.
    public func appearing(to requester: Participant?, at now: Timestamp) -> Event? {
        guard let requester else {
            return isAnnounced
                ? nil : .conversationAnnounced(ConversationAnnounced(conversation: id, at: now))
        }
        return requester.state == .shown ? nil : showing(to: [requester.userID], at: now)
    }

    private func showing(to users: [UserID], at now: Timestamp) -> Event {
        .conversationShown(ConversationShown(conversation: id, users: users, at: now))
    }

    /// Whether this distinct conversation satisfies a draft with the same participants.
    ///
    /// A draft without metadata matches any metadata; otherwise the metadata must be equal (R7).
    public func isMatch(for draft: Draft) -> Bool {
        draft.metadata.map { tree in tree == metadata.view } ?? true
    }

    /// Returns the event that stores the key and the proposed id of a match; `nil` if there is neither.
    public func matching(_ draft: Draft, key: Replay.Key?) -> Event? {
        let alias = [draft.proposedID, key.map(Conversation.ID.init)].lazy
            .compactMap(\.self).first { alias in alias != id }
        guard key != nil || alias != nil else { return nil }
        return .conversationMatched(ConversationMatched(conversation: id, key: key, alias: alias))
    }
}

extension Conversation {
    /// How a user deletes a conversation.
    public enum Deletion: Equatable, Sendable {
        /// From all views (R18).
        case forAll
        /// From the user's own view; they remain a participant (R16).
        case forMe
        /// From the user's own view, and they leave (R17).
        case leaving
    }
}

extension Conversation {
    /// Returns the event of a deletion for all; `nil` if it is deleted already, because a repeat succeeds (R18).
    public func deleting(at now: Timestamp) -> Event? {
        deletedAt == nil
            ? .conversationDeleted(ConversationDeleted(conversation: self, at: now)) : nil
    }

    /// Returns the events of a deletion by a user.
    ///
    /// - Throws: `notFound(.conversation)` if the user does not see it; `accessDenied` for a former participant that
    ///   requests a deletion for all (R14).
    public func deleting(
        _ deletion: Deletion, by user: Participant,
        _ limits: MessagingLimits = MessagingLimits(), at now: Timestamp
    ) throws(Rejection) -> [Event] {
        switch deletion {
        case .forAll:
            try user.requireWriting()
            return [deleting(at: now)].compactMap(\.self)
        case .forMe:
            try user.requireReading()
            return [hiding(from: user, upTo: user.leftAfter ?? lastPosition, at: now)]
        case .leaving where user.isFormer:
            try user.requireReading()
            return [hiding(from: user, upTo: nil, at: now)]
        // Also for a user that deleted it from their own view: they are still a participant.
        case .leaving:
            try user.requireWriting()
            return try patching([.removeParticipant(user.userID)], limits, at: now)
                + [hiding(from: user, upTo: nil, at: now)]
        }
    }

    private func hiding(from user: Participant, upTo last: Position?, at now: Timestamp) -> Event {
        .conversationHidden(
            ConversationHidden(conversation: id, user: user.userID, upTo: last, at: now))
    }
}

/// A key that two distinct conversations share if and only if they have the same participants (R3).
public struct DistinctKey: Hashable, Sendable {
    /// A digest of the participants, so that the key is short whatever their names.
    public let digest: [UInt8]

    /// Creates the key of a set of users.
    ///
    /// - Parameter hash: SHA-256, passed in because this module does not depend on digests.
    public init(_ participants: Participants, hash: ([UInt8]) -> [UInt8]) {
        digest = hash(Self.preimage(of: participants))
    }

    /// Returns the bytes to hash: the users sorted by their bytes, each after its length in eight bytes, so that two
    /// different sets never have the same bytes.
    public static func preimage(of participants: Participants) -> [UInt8] {
        participants.users.sorted().flatMap { user in
            let length = UInt64(user.text.utf8.count)
            return (0..<8).map { index in UInt8(truncatingIfNeeded: length >> (56 - index * 8)) }
                + Array(user.text.utf8)
        }
    }
}
