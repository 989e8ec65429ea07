public import Messaging
import SQL

extension MessagingStore {
    /// Sends a message.
    ///
    /// - Parameters:
    ///   - draft: The message; its sender is the user on whose behalf it is sent, if there is one.
    ///   - conversation: The conversation, by its own id or an alias.
    ///   - perspective: The user on whose behalf it is sent, or the system.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: ``ReplayedAcceptance`` when the response to the key has no message; `Rejection`:
    ///   `notFound(.message)` when the message of the key is deleted (ruling 12) or not in the user's view;
    ///   `notFound` of the user, or of a conversation that does not exist or that the user does not see;
    ///   `objectDeleted`, for a user `notFound`, of a deleted conversation; `accessDenied` for a former participant
    ///   (R14); `idTaken(.message)`; what `Conversation.posting` rejects.
    public func sendMessage(
        _ draft: Message.Draft, to conversation: Conversation.ID,
        by perspective: Perspective = .system, key: Replay.Key? = nil,
        in application: Application.ID
    ) async throws -> CreationOutcome<MessageSnapshot> {
        let id = draft.proposedID ?? key.map(Message.ID.init) ?? environment.newID()
        let partIDs = draft.parts.map { _ in environment.newID() as MessagePart.ID }
        let queries = SendQueries(
            draft, to: conversation, by: perspective, key: key, in: application)
        return try await change(in: application, prefetching: queries.prefetch) { context in
            try context.send(
                draft, querying: queries.send(in: context.transaction), to: conversation,
                by: perspective,
                as: id, key: key, partIDs: partIDs)
        }
    }
}

extension MutationContext {
    fileprivate func send(
        _ draft: Message.Draft, querying prefetched: SendPrefetch, to target: Conversation.ID,
        by perspective: Perspective, as id: Message.ID, key: Replay.Key?,
        partIDs: [MessagePart.ID]
    ) throws -> CreationOutcome<MessageSnapshot> {
        let sender = try prefetched.identity()
        // Nothing is done on behalf of an unknown user (platform-api §3.9).
        if perspective.user != nil, sender == nil { throw Rejection.notFound(.user) }
        let isNew = try prefetched.isNew()
        if !isNew, let key, let sent = try message(sentWith: key, by: perspective) {
            return .replayed(
                try snapshot(of: sent, seenBy: perspective, or: .notFound(.message)))
        }
        let (conversation, recipientViews) = try writableTarget(
            prefetched, target, from: draft.sender, for: perspective)
        if !isNew, draft.proposedID != nil, let holder = try holder(of: id) {
            return .idInUse(
                try snapshot(of: holder, seenBy: perspective, or: .idTaken(.message)))
        }
        let message = try post(
            draft, to: conversation, reaching: recipientViews, by: perspective, as: id, key: key,
            partIDs: partIDs)
        return .created(
            snapshotOfNew(
                message, from: sender, to: conversation, seenBy: perspective))
    }

    /// Decides and records a message, and returns it. All messages are sent by this function, also those of batches and
    /// scheduled ones.
    ///
    /// - Parameters:
    ///   - recipientViews: The recipients, if they were already loaded.
    ///   - perspective: The user on whose behalf it is sent, or the system.
    func post(
        _ draft: Message.Draft, to conversation: Conversation,
        reaching recipientViews: [RecipientView]? = nil, by perspective: Perspective = .system,
        as id: Message.ID, key: Replay.Key? = nil, partIDs: [MessagePart.ID]
    ) throws -> Message {
        let event = try conversation.posting(
            draft, hasIdentity: try hasIdentity(draft.sender, in: conversation),
            contents: try contents(
                of: draft.parts, attachedBy: perspective, in: conversation.id), limits, as: id,
            partIDs: { index in partIDs[index] }, key: key, at: now)
        try record(event, reaching: recipientViews)
        guard case .messageSent(let sent) = event else {
            throw StoreFault.unreadable("event of a sent message")
        }
        return sent.message
    }

    /// The conversation that a message is sent to, and the recipients if they were loaded ahead.
    private func writableTarget(
        _ prefetched: SendPrefetch, _ id: Conversation.ID, from sender: Sender,
        for perspective: Perspective
    ) throws -> (Conversation, [RecipientView]?) {
        guard let (found, recipientViews) = try prefetched.target() else {
            return (try writableConversation(id, for: perspective, from: sender), nil)
        }
        guard perspective.user != nil else {
            guard found.deletedAt == nil else { throw Rejection.objectDeleted }
            return (found, recipientViews)
        }
        guard found.deletedAt == nil, let participant = try prefetched.ownParticipant() else {
            throw Rejection.notFound(.conversation)
        }
        try participant.requireWriting()
        return (found, recipientViews)
    }

    /// The conversation that a message is sent to, if it was not loaded ahead because its id is an alias or unknown.
    private func writableConversation(
        _ id: Conversation.ID, for perspective: Perspective, from sender: Sender
    ) throws -> Conversation {
        guard let user = perspective.user else {
            return try transaction.lockedConversation(id, toSendFrom: sender, in: application)
        }
        let (conversation, participant) = try transaction.lockedConversationRow(
            id, for: user, in: application)
        try participant.requireWriting()
        return try transaction.withParticipants(
            conversation, toSendFrom: sender, in: application)
    }

    /// The message that was sent with a key, or that has it as its id.
    ///
    /// - Parameter perspective: The user that sends, or the system. Only the system schedules messages and sends
    ///   batches; with the key of a scheduled message, a user finds it only once it was sent.
    /// - Throws: ``ReplayedAcceptance`` when the response to the key had no message; `notFound` when the message was
    ///   deleted, or was not sent yet.
    func message(
        sentWith key: Replay.Key, by perspective: Perspective = .system
    ) throws -> Message? {
        guard let made = try transaction.sending(createdWith: key, in: application) else {
            return try liveMessage(Message.ID(key))
        }
        if perspective.user == nil { try rejectReusedKey(of: made) }
        guard let id = Message.ID(bytes: made.object), let message = try liveMessage(id) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    /// The message that has an id; `nil` when the id is unused.
    ///
    /// - Throws: `notFound` when the id belongs to a deleted message; `idTaken` when it is reserved for a scheduled
    ///   message.
    func holder(of id: Message.ID) throws -> Message? {
        if let holder = try liveMessage(id) { return holder }
        let former = try transaction.sending(createdWith: Replay.Key(id), in: application)
        guard former?.object == id.bytes else { return nil }
        guard try transaction.scheduledMessage(id, in: application) == nil else {
            throw Rejection.idTaken(.message)
        }
        throw Rejection.notFound(.message)
    }

    /// A message by its id; `nil` when no row has it.
    ///
    /// - Throws: `notFound` when it was deleted with its conversation, because its id stays reserved.
    func liveMessage(_ id: Message.ID) throws -> Message? {
        guard let message = try transaction.message(id, in: application) else { return nil }
        guard try transaction.isLive(message.conversation, in: application) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    /// Whether a sender that is not a participant is a user with an identity; false for a participant, for which it does
    /// not matter.
    func hasIdentity(_ sender: Sender, in conversation: Conversation) throws -> Bool {
        guard let user = sender.userID, !conversation.participants.contains(user) else {
            return false
        }
        return try transaction.hasIdentity(user, in: application)
    }

    /// The snapshot of an existing message.
    ///
    /// - Throws: The rejection when the user does not see the message.
    private func snapshot(
        of message: Message, seenBy perspective: Perspective, or rejection: Rejection
    ) throws -> MessageSnapshot {
        if let user = perspective.user,
            try !transaction.isVisible(message, for: user, in: application)
        {
            throw rejection
        }
        return try snapshot(of: message, seenBy: perspective)
    }

    /// The snapshot of a new message. Its recipients are the current participants, and it has no receipts.
    private func snapshotOfNew(
        _ message: Message, from sender: BasicIdentity?, to conversation: Conversation,
        seenBy perspective: Perspective
    ) -> MessageSnapshot {
        let viewer = perspective.user
        let participants = conversation.participants
        let takesPart = message.sender.userID.map(participants.contains) ?? false
        return MessageSnapshot(
            message: message,
            sender: message.sender.userID.map { user in sender ?? BasicIdentity(userID: user) },
            recipients: conversation.isWide
                ? []
                : participants.users.map { user in
                    MessageSnapshot.Recipient(userID: user, status: message.status(of: user, nil))
                },
            recipientCounts: conversation.isWide
                ? RecipientCounts(
                    justSentTo: conversation.participantCount, includingSender: takesPart) : nil,
            isUnread: viewer.map { _ in false }, receivedAt: viewer.map { _ in message.sentAt })
    }
}

/// The queries that sending a message makes before it decides.
private struct SendQueries: Sendable {
    private let conversation: Conversation.ID
    private let sender: UserID?
    private let perspective: Perspective
    /// The bytes of the proposed id and of the key, if the request has them.
    private let names: [[UInt8]]
    private let application: Application.ID

    /// - Parameter perspective: The user on whose behalf it is sent, or the system.
    init(
        _ draft: Message.Draft, to conversation: Conversation.ID, by perspective: Perspective,
        key: Replay.Key?, in application: Application.ID
    ) {
        self.conversation = conversation
        self.perspective = perspective
        self.application = application
        sender = draft.sender.userID
        let (id, key) = (draft.proposedID?.bytes, key?.bytes)
        names = [id, key == id ? nil : key].compactMap(\.self)
    }

    /// Sends them ahead, together with those of other messages.
    func prefetch(_ transaction: Transaction) throws {
        transaction.prefetchLocked(conversation, in: application)
        // The event needs the end of the log, which is queried in the same round trip. It is locked before the
        // blocks are read, so that no other process changes them before the event is recorded.
        _ = try transaction.queryLogEnd(in: application)
        transaction.prefetchRecipients(in: conversation, to: sender, in: application)
        if let user = perspective.user {
            _ = try transaction.queryParticipant(user, in: conversation, in: application)
        }
        if let sender { transaction.prefetchIdentities(of: [sender], in: application) }
        if !names.isEmpty { transaction.prefetchSendings(named: names, in: application) }
    }

    /// Sends them, unless they were sent ahead.
    func send(in transaction: Transaction) throws -> SendPrefetch {
        SendPrefetch(
            conversation: try transaction.queryLocked(conversation, in: application),
            recipientViews: try transaction.queryRecipients(
                in: conversation, to: sender, in: application),
            participant: try perspective.user.map { user in
                try transaction.queryParticipant(user, in: conversation, in: application)
            },
            sender: try sender.map { sender in
                try transaction.queryIdentity(of: sender, in: application)
            },
            isKnown: names.isEmpty
                ? nil : try transaction.querySendings(named: names, in: application))
    }
}

/// The results of the queries that sending a message makes before it decides.
private struct SendPrefetch {
    /// The conversation by its own id; no row for an alias.
    let conversation: DeferredRows<Conversation>
    /// The current participants, as recipients.
    let recipientViews: DeferredRows<RecipientView>
    /// The participant on whose behalf the message is sent; `nil` for the system.
    let participant: DeferredRows<Participant>?
    /// The identity of the sender; `nil` for a service.
    let sender: DeferredRows<BasicIdentity>?
    /// Whether the proposed id or the key is already used; `nil` without both.
    let isKnown: DeferredRows<Bool>?

    /// The conversation with its participants, those of a wide one as far as sending depends on them, and its
    /// recipients; `nil` for an alias or an unknown id.
    func target() throws -> (conversation: Conversation, recipientViews: [RecipientView])? {
        guard var found = try conversation.first() else { return nil }
        let recipientViews = try recipientViews.inOrder()
        found.participants = Participants(recipientViews.map(\.user))
        return (found, recipientViews)
    }

    /// The participant on whose behalf the message is sent; `nil` for the system, and for any other user.
    func ownParticipant() throws -> Participant? { try participant?.first() }

    /// The identity of the sender; `nil` for a service and for an unknown user.
    func identity() throws -> BasicIdentity? { try sender?.first() }

    /// Whether neither the proposed id nor the key was used before.
    func isNew() throws -> Bool { try isKnown?.rows().contains(true) != true }
}

extension Transaction {
    /// Queries whether one of these ids, one or two, is that of a message or a key of messages.
    fileprivate func querySendings(
        named names: [[UInt8]], in application: Application.ID
    ) throws -> DeferredRows<Bool> {
        let first = Self.uses(of: names[0], in: application)
        return try query(
            names.count == 1
                ? first : "\(first) UNION ALL \(Self.uses(of: names[1], in: application))",
            as: Self.sendings(named: names, in: application)
        ) { row in
            guard let kind = Replay.Kind(rawValue: try row.text(0)) else {
                throw StoreFault.unreadable("replay_keys.kind")
            }
            return Replay.Kind.sendings.contains(kind)
        }
    }

    /// The kinds of objects that have an id or a key, one or none each.
    ///
    /// SQLite creates a temporary table for each `IN`, which would take as long as all other statements of a message.
    private static func uses(of name: [UInt8], in application: Application.ID) -> SQL {
        """
        SELECT \(Replay.Kind.message.rawValue) FROM messages
        WHERE application = \(application) AND id = \(name)
        UNION ALL
        SELECT kind FROM replay_keys WHERE application = \(application) AND replay_key = \(name)
        """
    }

    /// Queries the same ahead.
    fileprivate func prefetchSendings(named names: [[UInt8]], in application: Application.ID) {
        prefetch(names, by: CommitGroup("sendings", in: application.bytes)) { transaction, names in
            let columns: [SQLArray] = [
                .blobs(names.map { names in names[0] }),
                .blobs(names.map { names in names[names.count - 1] }),
            ]
            let indices: SQLArray = .integers(names.indices.map(Int64.init))
            try transaction.prefetch(
                """
                SELECT EXISTS (
                    SELECT 1 FROM messages
                    WHERE application = \(application) AND id IN (column1, column2)
                ), EXISTS (
                    SELECT 1 FROM replay_keys
                    WHERE application = \(application) AND kind \(in: .texts(Replay.Kind.sendings.map(\.rawValue)))
                        AND replay_key IN (column1, column2)
                ), column3
                FROM \(table: "named", of: columns + [indices])
                """
            ) { row in
                (
                    Self.sendings(named: names[try row.int(2)], in: application),
                    try row.int64(0) + row.int64(1) > 0
                )
            }
        }
    }

    private static func sendings(
        named names: [[UInt8]], in application: Application.ID
    ) -> RowCacheKey<Bool> {
        RowCacheKey(
            of: names.flatMap { name in
                ["messages", "replay_keys"].map { table in
                    RowKey(application.bytes + name, in: table)
                }
            }, aspect: Array("sendings".utf8) + names.dropFirst().joined())
    }
}
