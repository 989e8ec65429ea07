public import Messaging
import SQL

/// The row of a scheduled message, without the message: its id and its position in the order of sending.
struct ScheduledMessageEntry: Sendable {
    let application: Application.ID
    let id: Message.ID
    fileprivate let dueAt: Timestamp
    /// The number in the order of acceptance, within the application.
    fileprivate let turn: Int64
    /// The trace of the request that scheduled it; `nil` for none.
    let trace: Trace?
}

extension Replay.Kind {
    /// The kinds of objects that the key of a sent message may name.
    static let sendings: [Self] = [.message, .scheduled, .batch]
}

extension Transaction {
    /// What a key was used for: a message, a scheduled message or a batch, and the id that it refers to; `nil` while the
    /// key is unused.
    func sending(
        createdWith key: Replay.Key, in application: Application.ID
    ) throws -> (kind: Replay.Kind, object: [UInt8])? {
        try first(
            """
            SELECT kind, object FROM replay_keys
            WHERE application = \(application) AND replay_key = \(key)
                AND kind \(in: .texts(Replay.Kind.sendings.map(\.rawValue)))
            ORDER BY kind LIMIT 1
            """
        ) { row in
            guard let kind = Replay.Kind(rawValue: try row.text(0)) else {
                throw StoreFault.unreadable("replay_keys.kind")
            }
            return (kind, try row.blob(1))
        }
    }

    /// A scheduled message that was not sent yet; `nil` if none has this id.
    ///
    /// If its conversation was merged since, the message refers to the winner (X1.2).
    func scheduledMessage(
        _ id: Message.ID, in application: Application.ID
    ) throws -> ScheduledMessage? {
        let message = try first(
            """
            SELECT payload FROM scheduled_messages
            WHERE application = \(application) AND id = \(id)
            """
        ) { row in
            var reader = ByteReader(try row.blob(0))
            let message = try ScheduledMessage(from: &reader)
            try reader.finish()
            return message
        }
        guard let message, let winner = try winner(of: message.conversation, in: application) else {
            return message
        }
        return ScheduledMessage(
            id: message.id, conversation: winner, draft: message.draft, dueAt: message.dueAt,
            typingFrom: message.typingFrom)
    }

    /// A page of the due messages of all applications, in the order of sending.
    ///
    /// - Parameter last: The last item of the previous page; `nil` for the first page.
    func dueMessages(
        at now: Timestamp, after last: ScheduledMessageEntry?, limit: Int
    ) throws -> [ScheduledMessageEntry] {
        let (dueAt, application) = (last?.dueAt.milliseconds ?? 0, last?.application.bytes ?? [])
        return try rows(
            """
            SELECT application, id, due_at, turn, trace FROM scheduled_messages
            WHERE due_at <= \(now)
                AND (due_at, application, turn) > (\(dueAt), \(application), \(last?.turn ?? 0))
            ORDER BY due_at, application, turn LIMIT \(limit)
            """
        ) { row in
            ScheduledMessageEntry(
                application: try row.id(0), id: try row.id(1), dueAt: try row.timestamp(2),
                turn: try row.int64(3), trace: try row.optionalTrace(4))
        }
    }

    /// The first due time after a moment; `nil` when no message is due later.
    func nextDue(after now: Timestamp) throws -> Timestamp? {
        try first(
            """
            SELECT due_at FROM scheduled_messages WHERE due_at > \(now) ORDER BY due_at LIMIT 1
            """
        ) { row in try row.timestamp(0) }
    }
}

/// A user that is shown as typing before a scheduled message (platform-api §5.2.1).
public struct ScheduledTyping: Equatable, Sendable {
    /// The application.
    public let application: Application.ID
    /// Where the user types.
    public let conversation: Conversation.ID
    /// The sender of the message.
    public let user: UserID
    /// When the message is sent.
    public let until: Timestamp
}

extension Transaction {
    /// The users that begin to be shown as typing after a moment up to another, unless the message is due by then.
    func scheduledTyping(after start: Timestamp, through now: Timestamp) throws -> [ScheduledTyping]
    {
        try rows(
            """
            SELECT application, id FROM scheduled_messages
            WHERE typing_from > \(start) AND typing_from <= \(now) AND due_at > \(now)
            """
        ) { row in (application: try row.id(0) as Application.ID, id: try row.id(1) as Message.ID) }
        .compactMap { application, id in
            guard let message = try scheduledMessage(id, in: application),
                case .user(let user) = message.draft.sender
            else { return nil }
            return ScheduledTyping(
                application: application, conversation: message.conversation, user: user,
                until: message.dueAt)
        }
    }

    /// When the next user begins to be shown as typing after a moment; `nil` for never.
    func nextTyping(after now: Timestamp) throws -> Timestamp? {
        try first(
            """
            SELECT typing_from FROM scheduled_messages WHERE typing_from > \(now)
            ORDER BY typing_from LIMIT 1
            """
        ) { row in try row.timestamp(0) }
    }
}

extension Projection {
    /// Stores a scheduled message after all others of the application, and reserves its id and contents (ruling 18).
    func schedule(_ scheduled: MessageScheduled) throws {
        let message = scheduled.message
        var writer = ByteWriter()
        message.write(to: &writer)
        try transaction.execute(
            """
            INSERT INTO scheduled_messages (
                application, id, due_at, turn, payload, typing_from, trace
            ) VALUES (
                \(application), \(message.id), \(message.dueAt), (
                    SELECT COALESCE(MAX(turn), 0) + 1 FROM scheduled_messages
                    WHERE application = \(application)
                ), \(writer.bytes), \(message.typingFrom), \(trace?.text)
            )
            """)
        for case .content(let content, _) in message.draft.parts.map(\.body) {
            try transaction.execute(
                """
                INSERT INTO scheduled_contents (application, conversation, message, content)
                VALUES (\(application), \(message.conversation), \(message.id), \(content))
                """)
            try use(content, in: message.conversation)
        }
        remember(scheduled.key, as: .scheduled, for: message.id.bytes)
        remember(Replay.Key(message.id), as: .scheduled, for: message.id.bytes)
    }

    /// Deletes a scheduled message and releases its contents. If it was sent, the parts of the message use them too, so
    /// they stay.
    func dropScheduled(_ id: Message.ID) throws {
        let contents = try transaction.rows(
            """
            SELECT conversation, content FROM scheduled_contents
            WHERE application = \(application) AND message = \(id)
            """
        ) { row in (try row.id(0) as Conversation.ID, try row.id(1) as Content.ID) }
        try transaction.execute(
            "DELETE FROM scheduled_contents WHERE application = \(application) AND message = \(id)")
        for (conversation, content) in contents { try release([content], in: conversation) }
        try transaction.execute(
            "DELETE FROM scheduled_messages WHERE application = \(application) AND id = \(id)")
    }
}
