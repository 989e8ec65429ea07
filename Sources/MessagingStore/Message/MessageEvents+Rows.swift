import Messaging
import SQL

extension Projection {
    /// Inserts a message, and adds it to the views of its recipients.
    func send(_ sent: MessageSent) throws {
        let message = sent.message
        insert(message, changed: nil, blocksChangedAt: try blocksChangedAt())
        for part in message.parts { try insert(part, of: message.id, in: message.conversation) }
        let before = try transaction.queryLocked(message.conversation, in: application).first()
        // The first message shows the conversation to all participants.
        if before?.isAnnounced == false { touch(.window, in: message.conversation) }
        try count(message)
        try updateViews(message, isAnnouncing: before?.isAnnounced == false)
        remember(sent.key, as: .message, for: message.id.bytes)
    }

    /// Counts a message in its conversation and its application. The row is written once for all messages of a commit.
    private func count(_ message: Message) throws {
        let id = message.conversation
        try transaction.addToMessageCount(1, in: application)
        let row = RowCacheKey<SentMessages>(of: application.bytes + id.bytes, in: "conversations")
        let sent = SentMessages(
            conversation: id, lastPosition: message.position, lastSentAt: message.sentAt,
            event: position, count: (transaction.deferred(row)?.count ?? 0) + 1)
        transaction.deferWrite(
            sent, of: row, in: CommitGroup("sent", in: application.bytes)
        ) { [application] sent in
            sent.powerOfTwoChunks(upTo: 256).map { sent in
                """
                UPDATE conversations SET
                    last_position = column2, last_sent_at = column3,
                    message_count = message_count + column4, is_announced = 1,
                    changed = column5
                FROM \(table: "new", of: [
                    .blobs(sent.map(\.conversation.bytes)),
                    .integers(sent.map(\.lastPosition.number)),
                    .integers(sent.map(\.lastSentAt.milliseconds)), .integers(sent.map(\.count)),
                    .integers(sent.map(\.event.number)),
                ])
                WHERE application = \(application) AND id = column1
                """
            }
        }
        let cacheKey = Conversation.cacheKey(id, in: application)
        guard var conversation = try transaction.cached(cacheKey) else { return }
        conversation.lastPosition = message.position
        conversation.lastSentAt = message.sentAt
        conversation.messageCount += 1
        conversation.isAnnounced = true
        transaction.cache(conversation, for: cacheKey)
    }

    /// Adds a message to the views of all current participants, except those that block the sender or are
    /// blocked by them (R32, ruling 11). Participants that did not see the conversation see it from now on
    /// (R16, R51).
    ///
    /// In the usual case one statement changes all views, once for all messages of a commit. No statement uses
    /// `RETURNING`, for which SQLite creates a temporary table each time; the query before it returns what is needed.
    ///
    /// - Parameter isAnnouncing: Whether it is the message that shows the conversation to all participants.
    private func updateViews(_ message: Message, isAnnouncing: Bool) throws {
        let isWide =
            try transaction.queryLocked(message.conversation, in: application).first()?.isWide
            == true
        let present =
            try recipientViews
            ?? transaction.queryRecipients(
                in: message.conversation, to: message.sender.userID, in: application
            ).inOrder()
        let hidden = present.filter(\.isBlocked).map(\.user)
        let new = present.filter { view in view.state != .shown && !view.isBlocked }
        // The usual case: all participants see the conversation, and none is blocked.
        guard !new.isEmpty || !hidden.isEmpty else {
            return deferViewUpdate(message, isWide: isWide)
        }
        if !new.isEmpty {
            try show(message, to: new.map(\.user))
            if !isAnnouncing { touchWindows(of: message.conversation, new.map(\.user)) }
        }
        if isWide {
            deferViewUpdate(message, isWide: true)
        } else {
            try transaction.execute(ViewChange(message).sql(leavingOut: hidden, in: application))
        }
        if !hidden.isEmpty { try hide(message, from: hidden) }
        let unseen = new.filter { view in view.state == .unseen }.map(\.user)
        try connect(seeing: unseen, of: message.conversation)
    }

    /// Adds a message to the views of all current participants, with one statement for all messages of a commit.
    private func deferViewUpdate(_ message: Message, isWide: Bool) {
        // In a wide conversation only the row of the sender changes, and a service has none.
        if isWide, message.sender.userID == nil { return }
        let row = RowCacheKey<ViewChange>(
            of: application.bytes + message.conversation.bytes, in: "participants")
        let change = transaction.deferred(row)?.adding(message) ?? ViewChange(message)
        if isWide {
            transaction.deferWrite(change, of: row) { [application] in
                change.sqlOfWide(in: application)
            }
        } else if change.hasOneSender {
            transaction.deferWrite(
                change, of: row, in: CommitGroup("views", in: application.bytes)
            ) { [application] changes in
                changes.powerOfTwoChunks(upTo: 256).map { changes in
                    ViewChange.sql(of: changes, in: application)
                }
            }
        } else {
            transaction.deferWrite(change, of: row) { [application] in
                change.sql(leavingOut: [], in: application)
            }
        }
        transaction.invalidate([.viewCounts(of: message.conversation, in: application)])
    }

    /// Puts a conversation into the views of users because of a message.
    private func show(_ message: Message, to users: [UserID]) throws {
        try saveParticipants(users, of: message.conversation)
        for chunk in users.chunks(of: 4096) {
            try transaction.execute(
                """
                UPDATE participants SET state = 'shown', shown_from = \(message.position)
                WHERE application = \(application) AND conversation = \(message.conversation)
                    AND user_id \(in: chunk)
                """)
        }
        count(shown: users, 1)
    }

    /// Hides a message permanently from views that it was not added to.
    private func hide(_ message: Message, from users: [UserID]) throws {
        for chunk in users.chunks(of: 256) {
            try transaction.execute(
                """
                INSERT INTO hidden_messages (application, conversation, position, user_id)
                SELECT application, conversation, \(message.position), user_id FROM participants
                WHERE application = \(application) AND conversation = \(message.conversation)
                    AND user_id \(in: chunk)
                """)
            // The counts of a wide conversation rise with its number of messages.
            try transaction.execute(
                """
                UPDATE participants SET
                    unshown_count = unshown_count + 1, total_count = total_count - is_wide,
                    unread_count = unread_count - is_wide
                WHERE application = \(application) AND conversation = \(message.conversation)
                    AND user_id \(in: chunk)
                """)
        }
    }

    /// Inserts the row of a message.
    ///
    /// - Parameters:
    ///   - changed: The position of the event; `nil` if all other messages of the conversation have lower positions.
    ///   - moment: The time of the application's last change to a block list before the message was sent.
    ///   - count: The number of parts ever added, if its parts were changed.
    func insert(
        _ message: Message, changed: LogPosition?, blocksChangedAt moment: Timestamp,
        partsMade count: Int64? = nil
    ) {
        transaction.add(
            row(
                of: message, blocksChangedAt: moment, partsMade: count, event: position,
                changed: changed),
            to: "messages", keys: application.bytes + message.id.bytes,
            application.bytes + message.conversation.bytes,
            application.bytes + message.conversation.bytes + message.position.bytes,
            by: Self.messages)
    }

    /// Inserts imported messages of one conversation with their parts, which have no content and no place.
    ///
    /// - Parameter first: The position of the event of the first message; those of the others follow.
    func insert(
        _ archived: [ArchivedMessage], eventsFrom first: LogPosition
    ) {
        let messages = archived.enumerated().map { index, archived -> InsertedRow in
            let event = LogPosition(first.number + Int64(index))
            return row(
                of: archived.message, blocksChangedAt: archived.blocksChangedAt,
                partsMade: archived.partsMade, event: event, changed: event)
        }
        transaction.add(messages, to: "messages", by: Self.messages)
        let parts = archived.flatMap { archived in
            archived.message.parts.map { part in row(of: part, of: archived.message.id) }
        }
        transaction.add(parts, to: "parts", by: Self.parts)
    }

    private func row(
        of message: Message, blocksChangedAt moment: Timestamp, partsMade count: Int64?,
        event: LogPosition, changed: LogPosition?
    ) -> InsertedRow {
        let (user, name) = message.sender.columns
        return """
            (\(application), \(message.id), \(message.conversation), \(message.position), \(user),
            \(name), \(message.sentAt), \(message.updatedAt), \(message.version), \(message.weight),
            \(event), \(changed), \(moment), \(count))
            """
    }

    private static let messages = Insertion(
        """
        INSERT INTO messages (
            application, id, conversation, position, sender_user, sender_name, sent_at,
            updated_at, version, weight, event, changed, blocks_changed_at, parts_made
        ) VALUES
        """)
}

extension Sender {
    /// The values of `sender_user` and `sender_name`, exactly one of which is set.
    var columns: (user: UserID?, name: String?) {
        switch self {
        case .user(let user): (user, nil)
        case .named(let name): (nil, name)
        }
    }
}

/// The consecutive messages of one conversation in a commit.
private struct SentMessages {
    let conversation: Conversation.ID
    let lastPosition: Position
    let lastSentAt: Timestamp
    /// The position of the event of the last of them.
    let event: LogPosition
    let count: Int64
}

/// The changes that consecutive messages of one conversation make to the views of its participants.
private struct ViewChange {
    private let conversation: Conversation.ID
    private var lastMessage: Message.ID
    private var lastPosition: Position
    private var lastSentAt: Timestamp
    private var count: Int64 = 1
    /// The number of messages sent by each user; services are left out.
    private var sent: [UserID: Int64] = [:]

    init(_ message: Message) {
        conversation = message.conversation
        lastMessage = message.id
        lastPosition = message.position
        lastSentAt = message.sentAt
        countSent(by: message.sender)
    }

    func adding(_ message: Message) -> ViewChange {
        var change = self
        change.lastMessage = message.id
        change.lastPosition = message.position
        change.lastSentAt = message.sentAt
        change.count += 1
        change.countSent(by: message.sender)
        return change
    }

    private mutating func countSent(by sender: Sender) {
        if let user = sender.userID { sent[user, default: 0] += 1 }
    }

    /// Whether at most one user has sent the messages.
    var hasOneSender: Bool { sent.count <= 1 }

    /// The statement that makes the changes in several conversations, each of which has one sender.
    static func sql(of changes: [ViewChange], in application: Application.ID) -> SQL {
        """
        UPDATE participants SET
            total_count = total_count + column2,
            unread_count = unread_count + column2
                - CASE user_id WHEN column3 THEN column4 ELSE 0 END,
            last_position = column5, last_message = column6, last_at = column7
        FROM \(table: "new", of: [
            .blobs(changes.map(\.conversation.bytes)), .integers(changes.map(\.count)),
            .texts(changes.map { change in change.sent.first?.key.text ?? "" }),
            .integers(changes.map { change in change.sent.first?.value ?? 0 }),
            .integers(changes.map(\.lastPosition.number)), .blobs(changes.map(\.lastMessage.bytes)),
            .integers(changes.map(\.lastSentAt.milliseconds)),
        ])
        WHERE application = \(application) AND conversation = column1 AND left_after IS NULL
        """
    }

    /// The statement that makes the changes.
    ///
    /// - Parameter hidden: The users whose views do not change.
    func sql(leavingOut hidden: [UserID], in application: Application.ID) -> SQL {
        """
        UPDATE participants SET
            total_count = total_count + \(count),
            unread_count = unread_count + \(count) - CASE user_id \(branches: sent) ELSE 0 END,
            last_position = \(lastPosition), last_message = \(lastMessage), last_at = \(lastSentAt)
        WHERE application = \(application) AND conversation = \(conversation)
            AND left_after IS NULL AND user_id \(notIn: hidden)
        """
    }
}

extension ViewChange {
    /// In a wide conversation, where the counts of all views rise with its number of messages: only those of the
    /// senders change.
    fileprivate func sqlOfWide(in application: Application.ID) -> SQL {
        """
        UPDATE participants SET unread_count = unread_count - CASE user_id \(branches: sent) ELSE 0 END
        WHERE application = \(application) AND conversation = \(conversation)
            AND is_wide = 1 AND user_id \(in: sent.keys)
        """
    }
}

extension SQL.StringInterpolation {
    /// The branches of a `CASE` over users. The last one is repeated until their number is a power of two, so that there
    /// are few statement texts; a repeated branch has no effect.
    fileprivate mutating func appendInterpolation(branches counts: [UserID: Int64]) {
        let counts =
            counts.isEmpty ? [(user: "", count: 0)] : counts.map { ($0.key.text, $0.value) }
        var length = 1
        while length < counts.count { length *= 2 }
        for number in 0..<length {
            let (user, count) = counts[min(number, counts.count - 1)]
            appendLiteral("WHEN ")
            appendInterpolation(user)
            appendLiteral(" THEN ")
            appendInterpolation(count)
            appendLiteral(" ")
        }
    }
}
