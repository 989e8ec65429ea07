public import Messaging
import SQL

extension MessagingStore {
    /// Sends a message.
    ///
    /// - Parameters:
    ///   - draft: What is to be sent.
    ///   - conversation: Where to; an alias counts as its winner.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: ``ReplayedAcceptance`` when the key made what is answered without a message;
    ///   `Rejection`: `notFound(.message)` when what the key made is deleted (rulings 12);
    ///   `idTaken(.message)`, `notFound(.conversation)`, `objectDeleted`; what `Conversation.posting` rejects.
    public func sendMessage(
        _ draft: Message.Draft, to conversation: Conversation.ID, key: Replay.Key? = nil,
        in application: Application.ID
    ) async throws -> CreationOutcome<MessageSnapshot> {
        let id = draft.proposedID ?? key.map(Message.ID.init) ?? environment.newID()
        let partIDs = draft.parts.map { _ in environment.newID() as MessagePart.ID }
        let ask = Self.questions(
            of: draft, to: conversation, by: nil, key: key, in: application)
        return try await change(in: application, prefetching: { _ = try ask($0) }) { context in
            try context.send(
                draft, asking: ask(context.transaction), to: conversation, as: id, key: key,
                partIDs: partIDs)
        }
    }

    /// The same on behalf of the user who sends, as he sees the message.
    ///
    /// - Parameter draft: Its sender is the user.
    /// - Throws: `Rejection`: `notFound` of the user, of a conversation he cannot know of or that is
    ///   deleted, or when what the key made does not stand in his view; `accessDenied` for a former
    ///   participant (R14); `idTaken(.message)`; what `Conversation.posting` rejects.
    public func sendMessage(
        _ draft: Message.Draft, to conversation: Conversation.ID, by user: UserID,
        key: Replay.Key? = nil, in application: Application.ID
    ) async throws -> CreationOutcome<MessageSnapshot> {
        let id = draft.proposedID ?? key.map(Message.ID.init) ?? environment.newID()
        let partIDs = draft.parts.map { _ in environment.newID() as MessagePart.ID }
        let ask = Self.questions(
            of: draft, to: conversation, by: user, key: key, in: application)
        return try await change(in: application, prefetching: { _ = try ask($0) }) { context in
            try context.send(
                draft, asking: ask(context.transaction), to: conversation, by: user, as: id,
                key: key, partIDs: partIDs)
        }
    }

    private static func questions(
        of draft: Message.Draft, to conversation: Conversation.ID, by user: UserID?,
        key: Replay.Key?, in application: Application.ID
    ) -> @Sendable (Transaction) throws -> SendPrefetch {
        let (sender, names) = (
            draft.sender.userID, [draft.proposedID?.bytes, key?.bytes].compactMap(\.self)
        )
        return { transaction in
            try SendPrefetch(
                transaction, to: conversation, from: sender, by: user, names: names,
                in: application)
        }
    }
}

extension MutationContext {
    fileprivate func send(
        _ draft: Message.Draft, asking asked: SendPrefetch, to target: Conversation.ID,
        by user: UserID? = nil, as id: Message.ID, key: Replay.Key?, partIDs: [MessagePart.ID]
    ) throws -> CreationOutcome<MessageSnapshot> {
        let sender = try asked.identity()
        // Nothing is done on behalf of one whom nobody has named (platform-api §3.9).
        if user != nil, sender == nil { throw Rejection.notFound(.user) }
        let isNew = try asked.isNew()
        if !isNew, let key, let sent = try message(sentWith: key, by: user) {
            return .replayed(
                try snapshot(of: sent, seenBy: user, or: .notFound(.message)))
        }
        let (conversation, recipientViews) = try writableTarget(asked, target, for: user)
        if !isNew, draft.proposedID != nil, let holder = try holder(of: id) {
            return .idInUse(try snapshot(of: holder, seenBy: user, or: .idTaken(.message)))
        }
        let message = try post(
            draft, to: conversation, reaching: recipientViews, by: user, as: id, key: key,
            partIDs: partIDs)
        return .created(
            snapshotOfNew(
                message, from: sender, to: conversation.participants, seenBy: user))
    }

    /// Decides and records a post; every message comes into being here, also those of batches and
    /// schedules.
    ///
    /// - Parameters:
    ///   - recipientViews: Whom it reaches, where that was looked up already.
    ///   - user: On whose behalf; `nil` for the system.
    func post(
        _ draft: Message.Draft, to conversation: Conversation,
        reaching recipientViews: [RecipientView]? = nil, by user: UserID? = nil, as id: Message.ID,
        key: Replay.Key? = nil, partIDs: [MessagePart.ID]
    ) throws -> Message {
        let event = try conversation.posting(
            draft, hasIdentity: try hasIdentity(draft.sender, in: conversation),
            contents: try contents(of: draft.parts, readableBy: user), limits, as: id,
            partIDs: { index in partIDs[index] }, key: key, at: now)
        try record(event, reaching: recipientViews)
        guard case .messageSent(let sent) = event else {
            throw StoreFault.unreadable("decision of a post")
        }
        return sent.message
    }

    /// Where a message goes, and whom it reaches there where that is known.
    private func writableTarget(
        _ asked: SendPrefetch, _ id: Conversation.ID, for user: UserID?
    ) throws -> (Conversation, [RecipientView]?) {
        guard let (found, recipientViews) = try asked.target() else {
            return (try writableConversation(id, for: user), nil)
        }
        guard user != nil else {
            guard found.deletedAt == nil else { throw Rejection.objectDeleted }
            return (found, recipientViews)
        }
        guard found.deletedAt == nil, let part = try asked.ownPart() else {
            throw Rejection.notFound(.conversation)
        }
        try part.requireWriting()
        return (found, recipientViews)
    }

    private func writableConversation(
        _ id: Conversation.ID, for user: UserID?
    ) throws -> Conversation {
        guard let user else { return try transaction.lockedConversation(id, in: application) }
        let (conversation, part) = try transaction.lockedConversation(
            id, for: user, in: application)
        try part.requireWriting()
        return conversation
    }

    /// What a key has sent, or the message that bears it as its id.
    ///
    /// - Parameter user: Who asks; `nil` for the system. A user schedules nothing and sends no batch,
    ///   so of what such a key of the system made he is told no more than of any message: what has
    ///   been sent, if he sees it.
    /// - Throws: ``ReplayedAcceptance`` when that was answered without a message.
    func message(sentWith key: Replay.Key, by user: UserID? = nil) throws -> Message? {
        guard let made = try transaction.sending(madeWith: key, in: application) else {
            return try liveMessage(Message.ID(key))
        }
        if user == nil { try refuseRepeat(of: made) }
        guard let id = Message.ID(bytes: made.object), let message = try liveMessage(id) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    /// Who has an id; `nil` when it is free.
    ///
    /// - Throws: `notFound` when it was that of a message deleted since; `idTaken` when it is
    ///   promised to one that waits to be sent.
    func holder(of id: Message.ID) throws -> Message? {
        if let holder = try liveMessage(id) { return holder }
        let former = try transaction.sending(madeWith: Replay.Key(id), in: application)
        guard former?.object == id.bytes else { return nil }
        guard try transaction.scheduledMessage(id, in: application) == nil else {
            throw Rejection.idTaken(.message)
        }
        throw Rejection.notFound(.message)
    }

    /// A message by its id.
    ///
    /// - Throws: `notFound` when it went with its conversation: its id stays taken, and it has
    ///   nothing to show.
    func liveMessage(_ id: Message.ID) throws -> Message? {
        guard let message = try transaction.message(id, in: application) else { return nil }
        guard try transaction.isAlive(message.conversation, in: application) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    func hasIdentity(_ sender: Sender, in conversation: Conversation) throws -> Bool {
        guard let user = sender.userID, !conversation.participants.contains(user) else {
            return false
        }
        return try transaction.hasIdentity(user, in: application)
    }

    /// - Throws: The rejection when the user does not see the message.
    private func snapshot(
        of message: Message, seenBy user: UserID?, or rejection: Rejection
    ) throws -> MessageSnapshot {
        if let user, try !transaction.isVisible(message, for: user, in: application) {
            throw rejection
        }
        return try snapshot(of: message, seenBy: user)
    }

    /// A new message has no receipts, and who takes part now is who it reaches.
    private func snapshotOfNew(
        _ message: Message, from sender: BasicIdentity?, to participants: Participants,
        seenBy user: UserID?
    ) -> MessageSnapshot {
        MessageSnapshot(
            message: message,
            sender: message.sender.userID.map { user in sender ?? BasicIdentity(userID: user) },
            recipients: participants.users.map { user in
                MessageSnapshot.Recipient(userID: user, status: message.status(of: user, nil))
            }, isUnread: user.map { _ in false }, receivedAt: user.map { _ in message.sentAt })
    }
}

/// What a sending asks before it decides: all at once, so that over a network it is one round trip.
struct SendPrefetch {
    /// Where to, by its own id; an alias finds none.
    private let conversation: DeferredRows<Conversation>
    /// Whom it reaches there.
    private let recipientViews: DeferredRows<RecipientView>
    /// The part of the user on whose behalf it is.
    private let part: DeferredRows<Participant>?
    /// What is known of the user who sends.
    private let sender: DeferredRows<BasicIdentity>?
    /// Whether its names are those of anything; `nil` without a name.
    private let isKnown: DeferredRows<Bool>?

    /// - Parameters:
    ///   - user: On whose behalf; `nil` for the system.
    ///   - names: The id it proposes and its key.
    init(
        _ transaction: Transaction, to conversation: Conversation.ID, from sender: UserID?,
        by user: UserID?, names: [[UInt8]], in application: Application.ID
    ) throws {
        self.conversation = try transaction.askLocked(conversation, in: application)
        // Recording the event needs the end of the log; asked here, it travels along. It is locked before the
        // blocks are read, so no other process changes these between that and the message's event.
        _ = try transaction.askLogEnd(in: application)
        recipientViews = try transaction.askRecipients(
            in: conversation, to: sender, in: application)
        part = try user.map { user in
            try transaction.askParticipant(user, in: conversation, in: application)
        }
        self.sender = try sender.map { sender in
            try transaction.askIdentity(of: sender, in: application)
        }
        isKnown =
            names.isEmpty ? nil : try transaction.askSendings(named: names, in: application)
    }

    /// Where to, with who takes part and whom it reaches; `nil` for an alias, or for nothing.
    func target() throws -> (conversation: Conversation, recipientViews: [RecipientView])? {
        guard var found = try conversation.first() else { return nil }
        let recipientViews = try recipientViews.rows()
        found.participants = Participants(recipientViews.map(\.user))
        return (found, recipientViews)
    }

    /// The part the user has there.
    func ownPart() throws -> Participant? { try part?.first() }

    /// What is known of the user who sends; `nil` when nobody has named him.
    func identity() throws -> BasicIdentity? { try sender?.first() }

    /// Whether nothing was ever sent, or is to be sent, under any of its names.
    func isNew() throws -> Bool { try isKnown?.first() != true }
}

extension Transaction {
    /// Whether messages, or keys of sendings, have one of some names.
    fileprivate func askSendings(
        named names: [[UInt8]], in application: Application.ID
    ) throws -> DeferredRows<Bool> {
        try ask(
            """
            SELECT EXISTS (
                SELECT 1 FROM messages
                WHERE application = \(application) AND id IN (\(few: names))
            ), EXISTS (
                SELECT 1 FROM replay_keys
                WHERE application = \(application) AND kind IN (\(list: Replay.Kind.sendingNames))
                    AND replay_key IN (\(few: names))
            )
            """,
            as: names.count > 1
                ? nil : RowCacheKey(of: application.bytes + names[0], in: "messages", "replay_keys")
        ) { row in try row.int64(0) + row.int64(1) > 0 }
    }
}
