internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

/// A command that waits in the outbox.
struct OutboxRow: Sendable {
    /// How long the server remembers an idempotency key for certain (X2), less an hour for requests on their way.
    private static let keyLifetime: Int64 = 23 * 3_600_000

    let number: Int64
    let lane: String
    let kind: OutboxKind
    let conversation: Conversation.ID?
    let message: Message.ID?
    let payload: [UInt8]
    var key: String
    /// When it was first sent with this key; `nil` before.
    var sentAt: Timestamp?
    /// Whether later messages may be sent while this one is uploaded (K35).
    var mayBeOvertaken = false

    /// Whether an attempt may have had its effect without the server knowing the key any more. Only patches have no other
    /// means against a second effect: messages and conversations have ids, and repeating the other commands changes nothing.
    func hasExpired(at now: Timestamp) -> Bool {
        guard kind == .patch, let sentAt else { return false }
        return now.milliseconds - sentAt.milliseconds > Self.keyLifetime
    }

    /// Whether it is sent only while the store is what the server has: the positions of a receipt are those of before a merge
    /// until the feed brings it, and whether an expired command had its effect is only known then (K31).
    func needsLiveFeed(at now: Timestamp) -> Bool { kind.isReceipt || hasExpired(at: now) }
}

extension OutboxRow {
    /// Reads a row with the columns ``columns``; `nil` for a kind that is unknown.
    fileprivate init?(_ row: borrowing Row) throws {
        guard let kind = OutboxKind(rawValue: try row.text("kind")) else { return nil }
        let conversation = try row.optionalBlob("conversation").flatMap { bytes in
            Conversation.ID(stored: bytes)
        }
        self.init(
            number: try row.int64("number"), lane: try row.text("lane"), kind: kind,
            conversation: conversation,
            message: try row.optionalBlob("message").flatMap { bytes in
                Message.ID(stored: bytes, in: conversation)
            },
            payload: try row.blob("payload"), key: try row.text("key"),
            sentAt: try row.optionalInt64("sent_at").map { at in Timestamp(milliseconds: at) },
            mayBeOvertaken: try row.bool("may_be_overtaken"))
    }

    fileprivate static let columns: SQL =
        "number, lane, kind, conversation, message, payload, key, sent_at, may_be_overtaken"
}

/// What a receipt reports: positions, and the cursor of the feed with which they are known.
struct ReceiptReport: Sendable {
    let kind: Receipts.Kind
    let positions: IntervalSet
    let cursor: String?
}

/// Where the effect of a write stands in the feed: the header `Parley-Cursor`, and the beginning of every cursor.
struct FeedPosition: Hashable, Sendable {
    let epoch: String
    let position: Int64
    /// Whether the cursor is `EPOCH.POSITION` alone, between two events. A longer one is inside an event, a snapshot or a
    /// catch-up.
    let isWhole: Bool

    /// Reads `EPOCH.POSITION`, also at the beginning of a longer cursor.
    init?(_ text: String) {
        let pieces = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard pieces.count >= 2, !pieces[0].isEmpty, let position = Int64(pieces[1]) else {
            return nil
        }
        epoch = String(pieces[0])
        self.position = position
        isWhole = pieces.count == 2
    }
}

extension StoreTransaction {
    // MARK: - Adding

    /// Adds a command at the end of its lane.
    ///
    /// - Returns: Its number.
    @discardableResult
    func enqueue(
        _ kind: OutboxKind, lane: Lane, conversation: Conversation.ID? = nil,
        message: Message.ID? = nil, payload: [UInt8] = [], at now: Timestamp
    ) throws -> Int64 {
        let key = Self.newKey(at: now)
        if case .conversation(let id) = lane, kind != .create { try restartCreation(of: id) }
        try sql.execute(
            """
            INSERT INTO outbox (lane, kind, conversation, message, payload, key, created_at)
            VALUES (\(lane.text), \(kind.rawValue), \(conversation?.bytes),
                \(message?.bytes), \(payload), \(key), \(now.milliseconds))
            """)
        noteCommand()
        if let conversation { touch(conversation) }
        return try sql.first("SELECT last_insert_rowid() AS number") { row in
            try row.int64("number")
        } ?? 0
    }

    /// Sends the creation of a conversation again if the server has refused it: otherwise no later command of its lane would
    /// ever be sent.
    func restartCreation(of conversation: Conversation.ID) throws {
        try sql.execute(
            """
            UPDATE outbox SET failure = NULL
            WHERE conversation = \(conversation.bytes) AND kind = \(OutboxKind.create.rawValue)
                AND failure IS NOT NULL
            """)
    }

    /// Removes a message that the server does not have, with its commands.
    func removeUnsent(_ id: Message.ID) throws {
        try sql.execute("DELETE FROM outbox WHERE message = \(id.bytes)")
        try removeMessage(id)
        // Later messages are no longer held up.
        noteCommand()
    }

    private static func newKey(at now: Timestamp) -> String {
        Identifier<OutboxRow>.v7(at: now, random: .random(in: 0 ... .max)).uuid
    }

    /// The rows whose requests run one after the other (K30).
    enum Lane {
        case conversation(Conversation.ID)
        case receipts(Conversation.ID)
        /// Apart from the receipts of what was read, because these do not wait for a second (K55).
        case deliveries(Conversation.ID)
        case user

        var text: String {
            switch self {
            case .conversation(let id): "conversation \(id.value.uuid)"
            case .receipts(let id): "receipts \(id.value.uuid)"
            case .deliveries(let id): "deliveries \(id.value.uuid)"
            case .user: "user"
            }
        }
    }

    /// Sees to it that the deliveries of a conversation are reported (K55): by a row that waits, or by a new one.
    func enqueueDelivery(in conversation: Conversation.ID) throws {
        guard shared.reporting.insert(conversation).inserted else { return }
        let waiting = try sql.first(
            """
            SELECT number FROM outbox WHERE conversation = \(conversation.bytes)
                AND kind = \(OutboxKind.delivery.rawValue) AND answered_position IS NULL LIMIT 1
            """
        ) { row in try row.int64("number") }
        guard waiting == nil, try setting("reports_delivery") != "0" else { return }
        try enqueue(
            .delivery, lane: .deliveries(conversation), conversation: conversation,
            at: Timestamp(milliseconds: 0))
    }

    // MARK: - Combining

    /// The most bytes of a combined request.
    private static let combinedBytes = 256 << 10

    /// Adds operations to a row of the conversation that was never sent: to its creation (K54), or to the last row of its
    /// lane (K34).
    ///
    /// - Returns: Whether there was one; otherwise the operations need a row of their own.
    func combine(_ patches: [ConversationPatch], in conversation: Conversation.ID) throws -> Bool {
        if let first = try waitingCommand(of: conversation, "number"), first.kind == .create,
            first.isUnsent, try !hasWaitingPatch(conversation),
            let payload = try OutboxPayload.creation(first.payload, with: patches)
        {
            try replacePayload(of: first.number, by: payload, in: conversation)
            return true
        }
        guard let last = try waitingCommand(of: conversation, "number DESC"), last.kind == .patch,
            last.isUnsent
        else { return false }
        let payload = ConversationPatchJSON.body(
            try OutboxPayload.patches(last.payload) + patches)
        guard payload.count <= Self.combinedBytes else { return false }
        try replacePayload(of: last.number, by: payload, in: conversation)
        return true
    }

    /// A command with which others may be combined.
    private struct WaitingCommand {
        let number: Int64
        let kind: OutboxKind?
        let payload: [UInt8]
        /// Whether no request for it was begun.
        let isUnsent: Bool
    }

    /// The first command of a conversation's lane in an order, of those that were neither answered nor refused.
    private func waitingCommand(
        of conversation: Conversation.ID, _ order: SQL
    ) throws -> WaitingCommand? {
        try sql.first(
            """
            SELECT number, kind, payload, sent_at IS NULL AS is_unsent FROM outbox
            WHERE lane = \(Lane.conversation(conversation).text) AND answered_position IS NULL
                AND failure IS NULL ORDER BY \(order) LIMIT 1
            """
        ) { row in
            WaitingCommand(
                number: try row.int64("number"), kind: OutboxKind(rawValue: try row.text("kind")),
                payload: try row.blob("payload"), isUnsent: try row.bool("is_unsent"))
        }
    }

    private func hasWaitingPatch(_ conversation: Conversation.ID) throws -> Bool {
        try sql.hasRow(
            in:
                """
                outbox WHERE conversation = \(conversation.bytes) AND kind = \(OutboxKind.patch.rawValue)
                    AND answered_position IS NULL AND failure IS NULL
                """)
    }

    private func replacePayload(
        of number: Int64, by payload: [UInt8], in conversation: Conversation.ID
    ) throws {
        try sql.execute("UPDATE outbox SET payload = \(payload) WHERE number = \(number)")
        noteCommand()
        touch(conversation)
    }

    /// How an attempt begins.
    enum Attempt: Sendable {
        case send(OutboxRow)
        /// The server has done it: an earlier attempt had no answer.
        case done(OutboxRow)
        /// It was dropped.
        case dropped
    }

    /// Begins an attempt to send a creation or a patch: from now on the server may have it, and nothing is combined with it.
    ///
    /// One whose key the server may have forgotten is not sent if the base shows its effect; otherwise it gets a new key.
    /// A write of another user between both is then overwritten, as by any later write (K51).
    func beginSending(_ number: Int64, at now: Timestamp) throws -> Attempt {
        guard var row = try self.row(number) else { return .dropped }
        if row.hasExpired(at: now) {
            if let id = row.conversation, try baseShows(row.payload, of: id) { return .done(row) }
            row.key = Self.newKey(at: now)
            row.sentAt = nil
        }
        guard row.sentAt == nil else { return .send(row) }
        row.sentAt = now
        try sql.execute(
            """
            UPDATE outbox SET key = \(row.key), sent_at = \(now.milliseconds)
            WHERE number = \(number)
            """)
        return .send(row)
    }

    // MARK: - Reading

    /// A row as it is now: a merge may have moved it to another conversation; `nil` if it was dropped.
    func row(_ number: Int64) throws -> OutboxRow? {
        try sql.first("SELECT \(OutboxRow.columns) FROM outbox WHERE number = \(number)") { row in
            try OutboxRow(row)
        } ?? nil
    }

    /// The rows that may be sent next: of each lane the first that was not answered, behind no failure that stops it.
    ///
    /// A receipt is held while the positions of messages are not known: in a snapshot, and after a merge until its
    /// messages have come again (K31).
    func nextRows() throws -> [OutboxRow] {
        try waitingLanes().compactMap { lane in try nextRow(in: lane) }
    }

    /// The lanes of rows that were not answered, each found by one look into the index.
    private func waitingLanes() throws -> [String] {
        try sql.rows(
            """
            WITH RECURSIVE lanes (lane) AS (
                SELECT min(lane) FROM outbox WHERE answered_position IS NULL
                UNION ALL
                SELECT (
                    SELECT min(o.lane) FROM outbox o WHERE o.answered_position IS NULL AND o.lane > lanes.lane)
                FROM lanes WHERE lane IS NOT NULL)
            SELECT lane FROM lanes WHERE lane IS NOT NULL
            """
        ) { row in try row.text("lane") }
    }

    /// The row of a lane that may be sent next. Those behind it are not read.
    private func nextRow(in lane: String) throws -> OutboxRow? {
        var choice = LaneChoice()
        _ = try sql.prefix(
            """
            SELECT \(OutboxRow.columns), failure IS NOT NULL AS has_failed,
                CASE
                    WHEN kind = \(OutboxKind.send.rawValue) THEN EXISTS (
                        SELECT 1 FROM parts WHERE parts.message = outbox.message
                            AND parts.status < \(TransferStatus.readyForDownload.rawValue))
                    WHEN kind \(in: OutboxKind.receiptNames) THEN
                        EXISTS (SELECT 1 FROM settings WHERE name = 'in_snapshot')
                        OR NOT EXISTS (SELECT 1 FROM settings WHERE name = 'cursor')
                        OR EXISTS (
                            SELECT 1 FROM messages WHERE messages.snapshot = -1
                                AND messages.conversation = outbox.conversation)
                    ELSE 0
                END AS is_held
            FROM outbox WHERE lane = \(lane) AND answered_position IS NULL ORDER BY number
            """
        ) { row -> Void? in
            if let found = try OutboxRow(row) {
                choice.add(
                    found, hasFailed: try row.bool("has_failed"), isHeld: try row.bool("is_held"))
            }
            return choice.isMade ? nil : ()
        }
        return choice.row
    }

    /// Whether receipts of conversations can be sent: none of their messages is missing that a merge has moved.
    ///
    /// - Parameter conversations: Those to which such a message has come, or of which one was removed.
    func hasReceipts(toSendIn conversations: Set<Conversation.ID>) throws -> Bool {
        try conversations.contains { id in
            try sql.hasRow(
                in:
                    """
                    outbox WHERE conversation = \(id.bytes) AND kind \(in: OutboxKind.receiptNames)
                        AND answered_position IS NULL AND failure IS NULL
                        AND NOT EXISTS (
                            SELECT 1 FROM messages WHERE snapshot = -1 AND conversation = \(id.bytes))
                    """)
        }
    }

    /// Chooses the row of a lane to send: a failed creation stops its lane, a failed send the later sends of its lane (K33),
    /// and a row that is held its lane, unless it may be overtaken (K35).
    struct LaneChoice {
        /// The chosen row; `nil` for none.
        private(set) var row: OutboxRow?
        /// Whether no later row can be chosen.
        private(set) var isMade = false
        private var stopsSends = false

        /// Takes the next row of the lane that was not answered.
        ///
        /// - Parameter isHeld: Whether parts of its message are still uploaded, or positions that it reports are not known.
        mutating func add(_ next: OutboxRow, hasFailed: Bool = false, isHeld: Bool = false) {
            if hasFailed {
                if next.kind == .create { isMade = true } else { stopsSends = true }
            } else if isHeld {
                if !next.mayBeOvertaken { isMade = true }
            } else if !isMade, !(stopsSends && next.kind == .send) {
                (row, isMade) = (next, true)
            }
        }
    }

    /// The most messages whose delivery one request reports: each answer marks them in one transaction, and other commands
    /// wait meanwhile.
    private static let deliveryLimit = 10_000

    /// What a receipt reports now: at most as many intervals as one request may have. The rest follows in another row.
    ///
    /// - Returns: `nil` if the row cannot be sent now: it was moved by a merge, or is held.
    func report(of row: OutboxRow) throws -> ReceiptReport? {
        let next = try nextRow(in: row.lane)
        guard next?.number == row.number, next?.conversation == row.conversation else { return nil }
        let cursor = try setting("cursor").flatMap { text in FeedPosition(text) }
        let all = try positions(of: row)
        return ReceiptReport(
            kind: row.kind == .delivery ? .delivery : .read,
            positions: IntervalSet(all.intervals.prefix(ReceiptJSON.intervalLimit)),
            cursor: cursor.map { cursor in "\(cursor.epoch).\(cursor.position)" })
    }

    /// The positions of the messages of a receipt that the base does not show as reported.
    private func positions(of row: OutboxRow) throws -> IntervalSet {
        let condition: SQL
        // SQLite reads a negative limit as no limit.
        var limit = -1
        switch row.kind {
        case .read: condition = "read_by = \(row.number) AND read_by > 0 AND base_unread = 1"
        case .delivery:
            condition = "conversation = \(row.conversation?.bytes) AND needs_delivery = 1"
            limit = Self.deliveryLimit
        default:
            return IntervalSet(text: String(decoding: row.payload, as: UTF8.self)) ?? IntervalSet()
        }
        let numbers = try sql.rows(
            """
            SELECT position FROM messages WHERE position IS NOT NULL AND \(condition)
            ORDER BY position LIMIT \(limit)
            """
        ) { row in try row.int64("position") }
        return IntervalSet(numbers.map { number in number...number })
    }

    // MARK: - Answers

    /// The server has done what a row asks for. The row stays until the feed has come to its effect (K18).
    ///
    /// - Parameters:
    ///   - positions: What a receipt has reported.
    ///   - sent: The message of a send as the server has it; `nil` if it was deleted meanwhile.
    ///   - cursor: Where the effect stands in the feed; `nil` if there is none.
    func succeed(
        _ row: OutboxRow, reporting positions: IntervalSet?, sent: MessageSnapshot? = nil,
        at cursor: FeedPosition?, now: Timestamp
    ) throws {
        try sql.execute(
            """
            UPDATE outbox SET answered_epoch = \(cursor?.epoch ?? ""),
                answered_position = \(cursor?.position ?? 0), failure = NULL
            WHERE number = \(row.number)
            """)
        if row.kind == .send, let message = row.message {
            try sql.execute("UPDATE messages SET is_sent = 1 WHERE id = \(message.bytes)")
            note(.updated(property: "delivery"), of: .message(message), in: row.conversation)
            if let sent { try applySent(sent, message) }
            if try sql.hasRow(in: "parts WHERE message = \(message.bytes) AND file IS NOT NULL") {
                noteSentContents()
            }
        }
        if let positions { try enqueueMissed(by: row, positions, now) }
        try settle()
    }

    /// Applies the answer of a send, unless the feed was faster or has removed the message.
    private func applySent(_ sent: MessageSnapshot, _ id: Message.ID) throws {
        let isWithout = try sql.first(
            "SELECT position IS NULL AS is_without FROM messages WHERE id = \(id.bytes)"
        ) { row in try row.bool("is_without") }
        if isWithout == true { try apply(sent, id) }
    }

    /// Reports what became due while a receipt was on its way.
    private func enqueueMissed(
        by row: OutboxRow, _ positions: IntervalSet, _ now: Timestamp
    ) throws {
        guard let conversation = row.conversation else { return }
        switch row.kind {
        case .read:
            let missed = try sql.rows(
                """
                SELECT id, position FROM messages
                WHERE read_by = \(row.number) AND read_by > 0 AND base_unread = 1
                """
            ) { row in (id: try row.blob("id"), position: try row.optionalInt64("position")) }
            .filter { row in !(row.position.map(positions.contains) ?? true) }
            guard !missed.isEmpty else { return }
            let next = try enqueue(
                .read, lane: .receipts(conversation), conversation: conversation, at: now)
            for message in missed {
                try sql.execute("UPDATE messages SET read_by = \(next) WHERE id = \(message.id)")
            }
        case .delivery:
            for interval in positions.intervals { try markDelivered(interval, in: conversation) }
            let hasMore = try sql.hasRow(
                in:
                    "messages WHERE conversation = \(conversation.bytes) AND needs_delivery = 1")
            if hasMore { try enqueueDelivery(in: conversation) }
        default: break
        }
    }

    /// The first row that waits for the feed to come to its effect; `nil` if there is none.
    func firstAnsweredRow() throws -> Int64? {
        try sql.first(
            "SELECT number FROM outbox WHERE answered_position IS NOT NULL ORDER BY number LIMIT 1"
        ) { row in try row.int64("number") }
    }

    /// Deletes the rows whose effect the feed has shown.
    ///
    /// - Parameter position: How far the feed is known to have nothing new; by default its cursor.
    func settle(upTo position: FeedPosition? = nil) throws {
        let stored = try setting("cursor").flatMap { text in FeedPosition(text) }
        let cursor = position ?? stored
        // Before the first answer of the feed, and in a snapshot, no effect was shown.
        let isComplete = try setting("in_snapshot") == nil && cursor != nil
        let rows = try sql.rows(
            """
            SELECT number, conversation, message, kind FROM outbox
            WHERE answered_position IS NOT NULL AND (answered_epoch = ''
                OR \(isComplete) = 1 AND answered_epoch = \(cursor?.epoch ?? "")
                    AND answered_position <= \(cursor?.position ?? -1))
            """
        ) { row in
            (
                number: try row.int64("number"),
                conversation: try row.optionalBlob("conversation"),
                message: try row.optionalBlob("message"),
                kind: OutboxKind(rawValue: try row.text("kind"))
            )
        }
        for row in rows {
            try sql.execute("DELETE FROM outbox WHERE number = \(row.number)")
            try undoMarks(of: row.number)
            if row.kind == .deleteMessage, let id = row.message.flatMap({ Message.ID(stored: $0) })
            {
                _ = try endDeletion(of: id)
            }
            if row.kind == .send, let id = row.message.flatMap({ Message.ID(stored: $0) }) {
                try removeUnlessShown(id)
            }
            if let id = row.conversation.flatMap({ Conversation.ID(stored: $0) }) {
                touch(id)
            }
        }
    }

    /// The deletion of a message is done, or was refused: what the feed says of the message is shown again. One that was never
    /// sent is removed, because the server has nothing to say of it.
    ///
    /// - Returns: Whether it is shown again.
    private func endDeletion(of id: Message.ID) throws -> Bool {
        let isSent = try sql.first("SELECT is_sent FROM messages WHERE id = \(id.bytes)") { row in
            try row.bool("is_sent")
        }
        guard let isSent else { return false }
        if isSent {
            try sql.execute("UPDATE messages SET is_hidden = 0 WHERE id = \(id.bytes)")
        } else {
            try removeUnsent(id)
        }
        return isSent
    }

    /// Removes a sent message that the user does not see any more: it was deleted before its answer came, or with all
    /// messages up to it. The feed need not name it, because it sends only the newest of several messages.
    private func removeUnlessShown(_ id: Message.ID) throws {
        let row = try sql.first(
            """
            SELECT position, base FROM messages LEFT JOIN conversations ON conversations.id = conversation
            WHERE messages.id = \(id.bytes)
            """
        ) { row in
            (position: try row.optionalInt64("position"), base: try row.optionalBlob("base"))
        }
        guard let row else { return }
        let clearedTo = row.base.flatMap { base in
            (try? JSONDocument(base))?.root["cleared_to"]?.integer
        }
        if row.position.map({ position in position <= clearedTo ?? 0 }) ?? true {
            try removeMessage(id)
        }
    }

    private func undoMarks(of number: Int64) throws {
        // The second condition lets the index of such rows be used: a bound number could be 0.
        try sql.execute(
            """
            UPDATE messages SET read_by = 0, is_unread = base_unread
            WHERE read_by = \(number) AND read_by > 0
            """)
    }

    /// The server refuses a row for good (K32, K33): a send stays, as failed; any other command is dropped, and what is
    /// shown goes back.
    ///
    /// - Parameter wholeLane: Whether nothing else of its lane can succeed either.
    /// - Returns: What the application is told.
    func fail(
        _ row: OutboxRow, _ error: ParleyError, wholeLane: Bool
    ) throws -> [OperationFailure] {
        let others = wholeLane ? try laneRows(after: row) : []
        var failures: [OperationFailure] = []
        for row in [row] + others {
            switch row.kind {
            case .send, .create:
                try sql.execute(
                    "UPDATE outbox SET failure = \(error.stored) WHERE number = \(row.number)")
            default:
                try sql.execute("DELETE FROM outbox WHERE number = \(row.number)")
                try undoMarks(of: row.number)
                if row.kind == .deleteMessage, let message = row.message,
                    try endDeletion(of: message)
                {
                    note(.created, of: .message(message), in: row.conversation)
                }
            }
            if let conversation = row.conversation { touch(conversation) }
            if let message = row.message {
                note(.updated(property: "delivery"), of: .message(message), in: row.conversation)
                failures.append(OperationFailure(object: .message(message), error: error))
            } else if let conversation = row.conversation {
                failures.append(OperationFailure(object: .conversation(conversation), error: error))
            } else {
                failures.append(
                    OperationFailure(object: .identity(try subject(of: row)), error: error))
            }
        }
        return failures
    }

    /// The user that a command without a conversation and a message is about.
    private func subject(of row: OutboxRow) throws -> UserID {
        switch row.kind {
        case .follow, .unfollow: UserID(String(decoding: row.payload, as: UTF8.self))
        default: try user()
        }
    }

    private func laneRows(after row: OutboxRow) throws -> [OutboxRow] {
        try sql.rows(
            """
            SELECT \(OutboxRow.columns) FROM outbox
            WHERE lane = \(row.lane) AND number > \(row.number) AND answered_position IS NULL
                AND failure IS NULL ORDER BY number
            """
        ) { row in try OutboxRow(row) }.compactMap(\.self)
    }
}
