/// Users who exchange messages, with metadata they share.
public struct Conversation: Equatable, Sendable {
    /// Names one conversation.
    public typealias ID = Identifier<Conversation>

    /// Its name for ever.
    public let id: ID
    /// When it was made.
    public let createdAt: Timestamp
    /// Who takes part now, in the order of naming.
    public var participants: Participants
    /// Whether it is the one conversation of exactly these participants (R3).
    public var isDistinct: Bool
    /// The tree all participants share.
    public var metadata: Metadata
    /// Whether all participants see it, or only its creator (R50).
    public var isAnnounced: Bool
    /// When it was deleted for all; `nil` while it lives.
    public var deletedAt: Timestamp?
    /// The place of the last message ever sent, deleted ones included.
    public var lastPosition: Position
    /// When that message was sent.
    public var lastSentAt: Timestamp?
    /// How many messages there are, deleted ones not counted.
    public var messageCount: Int64
    /// Rises with participants, distinctness and metadata; from one (X4).
    public var version: Int64

    /// A conversation as stored.
    public init(
        id: ID, createdAt: Timestamp, participants: Participants, isDistinct: Bool,
        metadata: Metadata, isAnnounced: Bool = true, deletedAt: Timestamp? = nil,
        lastPosition: Position = .start, lastSentAt: Timestamp? = nil, messageCount: Int64 = 0,
        version: Int64 = 1
    ) {
        self.id = id
        self.createdAt = createdAt
        self.participants = participants
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

extension Conversation {
    /// Decides a creation of exactly the users the draft names (R1).
    ///
    /// - Parameter creator: The user who makes it and alone sees it until the first message (R51);
    ///   `nil` for the system, whose conversations are announced at once (R52).
    public static func creating(
        _ draft: Draft, by creator: UserID? = nil, as id: Conversation.ID, key: Replay.Key? = nil,
        at now: Timestamp
    ) -> [Event] {
        let made = Conversation(
            id: id, createdAt: now, participants: draft.participants,
            isDistinct: draft.isDistinct,
            metadata: draft.metadata.map { tree in Metadata(tree, at: now) } ?? Metadata(),
            isAnnounced: creator == nil)
        return [
            .conversationCreated(ConversationCreated(conversation: made, key: key)),
            creator.map { creator in made.showing(to: [creator], at: now) },
        ].compactMap(\.self)
    }

    /// Decides what a distinct match shows to whom (R53, rulings 15): the system announces it, a
    /// user who did not see it does from now on; `nil` when nothing changes.
    public func appearing(to asker: Participant?, at now: Timestamp) -> Event? {
        guard let asker else {
            return isAnnounced
                ? nil : .conversationAnnounced(ConversationAnnounced(conversation: id, at: now))
        }
        return asker.state == .shown ? nil : showing(to: [asker.userID], at: now)
    }

    private func showing(to users: [UserID], at now: Timestamp) -> Event {
        .conversationShown(ConversationShown(conversation: id, users: users, at: now))
    }

    /// Whether this distinct conversation is what a draft with the same participants asks for.
    ///
    /// No metadata matches any; other metadata must be deeply equal (R7).
    public func isMatch(for draft: Draft) -> Bool {
        draft.metadata.map { tree in tree == metadata.view } ?? true
    }

    /// What a match leaves to remember; `nil` for nothing, so that a plain match is no event.
    public func matching(_ draft: Draft, key: Replay.Key?) -> Event? {
        let alias = [draft.proposedID, key.map(Conversation.ID.init)].lazy
            .compactMap(\.self).first { alias in alias != id }
        guard key != nil || alias != nil else { return nil }
        return .conversationMatched(ConversationMatched(conversation: id, key: key, alias: alias))
    }
}

extension Conversation {
    /// From whose view a user deletes a conversation.
    public enum Deletion: Equatable, Sendable {
        /// Everybody's (R18).
        case forAll
        /// His own; he still takes part (R16).
        case forMe
        /// His own, and he takes part no more (R17).
        case leaving
    }
}

extension Conversation {
    /// Decides a deletion for all; `nil` when it is done already, as a repeat succeeds (R18).
    public func deleting(at now: Timestamp) -> Event? {
        deletedAt == nil
            ? .conversationDeleted(ConversationDeleted(conversation: self, at: now)) : nil
    }

    /// Decides what a user's deletion changes.
    ///
    /// - Throws: `notFound(.conversation)` where he sees none; `accessDenied` for a former
    ///   participant who would delete it for others (R14).
    public func deleting(
        _ deletion: Deletion, by user: Participant, at now: Timestamp
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
        // Also of one he deleted for himself before: he still takes part in it.
        case .leaving:
            try user.requireWriting()
            return try patching([.removeParticipant(user.userID)], MessagingLimits(), at: now)
                + [hiding(from: user, upTo: nil, at: now)]
        }
    }

    private func hiding(from user: Participant, upTo place: Position?, at now: Timestamp) -> Event {
        .conversationHidden(
            ConversationHidden(conversation: id, user: user.userID, upTo: place, at: now))
    }
}

/// What two distinct conversations share exactly when they have the same participants (R3).
public struct DistinctKey: Hashable, Sendable {
    /// A digest of the participants, so that the key is short whatever their names.
    public let digest: [UInt8]

    /// The key of a set of users.
    ///
    /// - Parameter hash: SHA-256; given, because digests live outside this room.
    public init(_ participants: Participants, hash: ([UInt8]) -> [UInt8]) {
        digest = hash(Self.preimage(of: participants))
    }

    /// The users sorted by their bytes, each behind its length in eight bytes: no two sets of
    /// users write the same bytes, whatever characters their names hold.
    public static func preimage(of participants: Participants) -> [UInt8] {
        participants.users.sorted().flatMap { user in
            let length = UInt64(user.text.utf8.count)
            return (0..<8).map { place in UInt8(truncatingIfNeeded: length >> (56 - place * 8)) }
                + Array(user.text.utf8)
        }
    }
}
