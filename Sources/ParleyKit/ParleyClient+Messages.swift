internal import Blobs
internal import FoundationEssentials
internal import HTTP
internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

extension ParleyClient {
    // MARK: - Reading

    /// The message of an id; `nil` if there is none.
    public func message(_ id: Message.ID) async throws(ParleyError) -> Message? {
        try await read { reader in try reader.message(id) }
    }

    // MARK: - Sending

    /// Sends a message to a conversation. It is durable on this device when this returns, and reaches the server in the
    /// order of the calls. Large parts are uploaded before; ``transfer(of:)`` shows how far they are.
    ///
    /// - Throws: `invalidMessage` for no part or more than 1,000 and for invalid push options, `invalidMimeType`, `tooLarge`, `notAParticipant`,
    ///   `conversationGone`, `contentMissing` for a file that does not exist, `diskFull`.
    @discardableResult
    public func send(
        _ parts: [PartDraft], to id: Conversation.ID, _ options: MessageOptions = MessageOptions()
    ) async throws(ParleyError) -> Message {
        try Self.check(parts)
        let notification = try options.push?.json()
        let (message, uploads) = try await store(parts, to: id, options, notification ?? [])
        for row in uploads { _ = transferCenter.register(row) }
        if engine.typing.hasStarted(in: id) { sendTyping(.finished, in: id) }
        return message
    }

    /// Makes the bytes of the parts durable, then the message.
    private func store(
        _ parts: [PartDraft], to id: Conversation.ID, _ options: MessageOptions,
        _ notification: [UInt8]
    ) async throws(ParleyError) -> (Message, uploads: [TransferRow]) {
        let (folder, activity) = (transferCenter.folder, engine.activity)
        var prepared: [ContentFolder.Prepared] = []
        do throws(ParleyError) {
            for part in parts { prepared.append(try await folder.prepare(part)) }
            guard prepared.reduce(0, { sum, part in sum + part.size }) <= PartDraft.sizeLimit else {
                throw ParleyError.tooLarge
            }
            let stored = prepared
            let message = try await store.write { transaction in
                let conversation = try transaction.sql.currentID(of: id)
                try transaction.requireConversation(conversation, asParticipant: true)
                let added = try transaction.addMessage(
                    stored, to: conversation, options, notification)
                let hasUploads = stored.contains { part in part.file != nil }
                // Read here, where its pages are in memory: after the commit another thread would read them again.
                var reader = ObjectReader(transaction.sql, of: try transaction.user(), activity)
                guard let message = try reader.message(added) else {
                    throw ParleyError(.storeCorrupt, "The store has no message \(added).")
                }
                return (message, uploads: hasUploads ? try transaction.uploads(of: added) : [])
            }
            folder.removeOriginals(of: prepared)
            return message
        } catch {
            await folder.discard(prepared)
            throw error
        }
    }

    private static func check(_ parts: [PartDraft]) throws(ParleyError) {
        guard (1...Messaging.Message.partLimit).contains(parts.count) else {
            throw ParleyError(
                .invalidMessage,
                "A message has 1 to \(Messaging.Message.partLimit) parts; these are \(parts.count)."
            )
        }
        for part in parts {
            let halves = part.mimeType.split(
                separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, halves.allSatisfy({ !$0.isEmpty }),
                !part.mimeType.utf8.contains(0)
            else {
                throw ParleyError(
                    .invalidMimeType,
                    "The MIME type \"\(part.mimeType)\" must be of the form type/subtype.")
            }
        }
    }

    /// Waits until the server has a message.
    ///
    /// - Throws: The error with which the server has refused it, `messageGone` if it was discarded, `cancelled`.
    @discardableResult
    public func waitUntilSent(_ id: Message.ID) async throws(ParleyError) -> Message {
        let commits = store.commits.subscribe()
        while true {
            guard let message = try await message(id) else {
                throw ParleyError(.messageGone, "There is no message \(id).")
            }
            switch message.delivery {
            case .sent: return message
            case .failed(let error): throw error
            case .queued, .uploading, .sending, .blocked: break
            }
            guard await commits.next() != nil else {
                throw Task.isCancelled ? .cancelled : .closed
            }
        }
    }

    /// Sends a message again that the server has refused, and those behind it.
    ///
    /// - Throws: `alreadySent`, or `messageGone` if there is none that has failed.
    public func retry(_ id: Message.ID) async throws(ParleyError) {
        try await store.write { transaction in
            let conversation = try transaction.requireUnsent(id)
            guard try transaction.hasFailed(id, in: conversation) else {
                throw ParleyError(.messageGone, "The message \(id) has not failed.")
            }
            try transaction.restartUploads(of: id)
            try transaction.sql.execute(
                "UPDATE outbox SET failure = NULL WHERE message = \(id.bytes)")
            try transaction.restartCreation(of: conversation)
            transaction.noteCommand()
            transaction.note(.updated(property: "delivery"), of: .message(id), in: conversation)
            transaction.touch(conversation)
        }
        kick()
    }

    /// Removes a message that was not sent yet. One that is on its way at this moment is deleted on all devices afterwards.
    ///
    /// - Throws: `alreadySent`, or `messageGone` if there is none.
    public func discard(_ id: Message.ID) async throws(ParleyError) {
        let activity = engine.activity
        try await store.write { transaction in
            let conversation = try transaction.requireUnsent(id)
            if try transaction.isSending(id, activity) {
                try transaction.hide(id, in: conversation, .allParticipants)
            } else {
                try transaction.removeUnsent(id)
            }
        }
    }

    // MARK: - Receipts

    /// Marks messages as read. Own, deleted and read ones change nothing.
    public func markAsRead(_ ids: Set<Message.ID>) async throws(ParleyError) {
        let activity = engine.activity
        try await store.write { transaction in
            try transaction.markAsRead(ids, activity)
        }
    }

    /// Marks all messages of a conversation as read, those that are not on this device included.
    ///
    /// - Throws: `conversationGone`.
    public func markAllAsRead(in id: Conversation.ID) async throws(ParleyError) {
        try await store.write { transaction in
            let id = try transaction.sql.currentID(of: id)
            try transaction.requireConversation(id, asParticipant: false)
            try transaction.markAllAsRead(in: id)
        }
    }

    // MARK: - Deleting

    /// Deletes a message from this user's devices or for all participants. It is hidden at once. One that was not sent yet is
    /// removed, as by ``discard(_:)``.
    ///
    /// - Throws: `messageGone` if there is none, `notAParticipant` for all participants if the user is none.
    public func delete(_ id: Message.ID, _ mode: DeletionMode) async throws(ParleyError) {
        let activity = engine.activity
        try await store.write { transaction in
            let row = try transaction.sql.first(
                """
                SELECT conversation, is_sent FROM messages WHERE id = \(id.bytes) AND is_hidden = 0
                """
            ) { row in
                (
                    conversation: try row.optionalBlob("conversation"),
                    isSent: try row.bool("is_sent")
                )
            }
            guard let row else { throw ParleyError(.messageGone, "There is no message \(id).") }
            guard try row.isSent || transaction.isSending(id, activity) else {
                return try transaction.removeUnsent(id)
            }
            let conversation = row.conversation.flatMap { bytes in
                Conversation.ID(stored: bytes)
            }
            if let conversation, mode == .allParticipants {
                try transaction.requireConversation(conversation, asParticipant: true)
            }
            try transaction.hide(id, in: conversation, mode)
        }
    }

    // MARK: - Typing and presence

    /// Tells the other participants that the user types. Nothing happens without a connection.
    ///
    /// It may be called for each key: `started` is sent at most every 2.5 s. ``send(_:to:_:)`` ends it.
    public func sendTyping(_ action: TypingAction, in id: Conversation.ID) {
        guard connection == .live, engine.typing.mustSend(action, in: id, at: .now) else { return }
        signal { [store] () async throws(ParleyError) in
            let id = try await store.read { sql in try sql.currentID(of: id) }
            return TransportRequest(
                method: .post, path: "/conversations/\(id.value.uuid)/typing",
                headers: [("Accept", SyncEngine.accept), ("Content-Type", "application/json")],
                body: Array(#"{"action":"\#(action.rawValue)"}"#.utf8))
        }
    }

    /// Tells followers whether the user is present. Nothing happens without a connection.
    public func setPresence(_ status: PresenceStatus) {
        signal { () async throws(ParleyError) in
            TransportRequest(
                method: .put, path: "/presence",
                headers: [("Accept", SyncEngine.accept), ("Content-Type", "application/json")],
                body: Array(#"{"status":"\#(status.rawValue)"}"#.utf8))
        }
    }

    private func signal(
        _ request: @escaping @Sendable () async throws(ParleyError) -> TransportRequest
    ) {
        guard connection == .live else { return }
        Task { [engine] in _ = try? await engine.send(try await request()) }
    }
}

extension StoreTransaction {
    fileprivate func addMessage(
        _ parts: [ContentFolder.Prepared], to conversation: Conversation.ID,
        _ options: MessageOptions, _ notification: [UInt8]
    ) throws -> Message.ID {
        let now = Clock.now
        let id =
            try options.id.map(unused) ?? Message.ID(.v7(at: now, random: .random(in: 0 ... .max)))
        let number = try enqueue(
            .send, lane: .conversation(conversation), conversation: conversation, message: id,
            payload: notification, at: now)
        if options.mayBeOvertaken {
            try sql.execute("UPDATE outbox SET may_be_overtaken = 1 WHERE number = \(number)")
        }
        try sql.execute(
            """
            INSERT INTO messages (id, conversation, place, sender, sent_at, recipients, is_sent)
            VALUES (\(id.bytes), \(conversation.bytes), \(Self.firstUnsentPlace + number),
                \(try user().text), \(now.milliseconds),
                \(Self.json(try participants(of: conversation).sorted())), 0)
            """)
        for (index, part) in parts.enumerated() {
            let name = Identifier<Messaging.MessagePart>.v7(
                at: now, random: .random(in: 0 ... .max))
            try sql.execute(
                """
                INSERT INTO parts (message, part, name, mime_type, size, body, status, file)
                VALUES (\(id.bytes), \(index), \(name.uuid), \(part.mimeType), \(part.size),
                    \(part.inline), \(part.file == nil
                        ? TransferStatus.complete.rawValue : TransferStatus.awaitingUpload.rawValue),
                    \(part.file?.text))
                """)
        }
        if parts.contains(where: { part in part.file != nil }) { noteTransfer() }
        note(.created, of: .message(id), in: conversation)
        return id
    }

    /// The id that an application gives a message.
    ///
    /// - Throws: `alreadySent` if there is a message with it.
    private func unused(_ id: Message.ID) throws -> Message.ID {
        guard try !sql.hasRow(in: "messages WHERE id = \(id.bytes)"), !id.isAnnouncement else {
            throw ParleyError(.alreadySent, "There is a message with the id \(id).")
        }
        return id
    }

    /// The conversation of a message that the server does not have.
    ///
    /// - Throws: `alreadySent` or `messageGone`.
    fileprivate func requireUnsent(_ id: Message.ID) throws -> Conversation.ID {
        let row = try sql.first(
            "SELECT conversation, is_sent FROM messages WHERE id = \(id.bytes) AND is_hidden = 0"
        ) { row in
            (conversation: try row.optionalBlob("conversation"), isSent: try row.bool("is_sent"))
        }
        guard let row, let bytes = row.conversation,
            let conversation = Conversation.ID(stored: bytes)
        else { throw ParleyError(.messageGone, "There is no message \(id).") }
        guard !row.isSent else {
            throw ParleyError(.alreadySent, "The server has the message \(id) already.")
        }
        return conversation
    }

    /// Whether the server has refused a message, or the creation of its conversation.
    fileprivate func hasFailed(_ id: Message.ID, in conversation: Conversation.ID) throws -> Bool {
        try sql.hasRow(in: "outbox WHERE message = \(id.bytes) AND failure IS NOT NULL")
            || sql.hasRow(
                in:
                    """
                    outbox WHERE conversation = \(conversation.bytes)
                        AND kind = \(OutboxKind.create.rawValue) AND failure IS NOT NULL
                    """)
    }

    /// Whether the request that sends a message is on its way.
    fileprivate func isSending(_ id: Message.ID, _ activity: OutboxActivity) throws -> Bool {
        let number = try sql.first(
            """
            SELECT number FROM outbox WHERE message = \(id.bytes)
                AND kind = \(OutboxKind.send.rawValue) AND failure IS NULL
            """
        ) { row in try row.int64("number") }
        return number.map(activity.isSending) ?? false
    }

    /// Hides a message and asks the server to delete it.
    fileprivate func hide(
        _ id: Message.ID, in conversation: Conversation.ID?, _ mode: DeletionMode
    ) throws {
        try sql.execute("UPDATE messages SET is_hidden = 1 WHERE id = \(id.bytes)")
        note(.deleted, of: .message(id), in: conversation)
        try enqueue(
            .deleteMessage, lane: conversation.map { .conversation($0) } ?? .user,
            conversation: conversation, message: id, payload: Array(mode.rawValue.utf8),
            at: Clock.now)
    }

    fileprivate func markAsRead(_ ids: Set<Message.ID>, _ activity: OutboxActivity) throws {
        var unread: [Conversation.ID: [Message.ID]] = [:]
        for id in ids {
            let row = try sql.first(
                """
                SELECT conversation FROM messages
                WHERE id = \(id.bytes) AND is_unread = 1 AND is_hidden = 0
                """
            ) { row in try row.optionalBlob("conversation") }
            guard let row else { continue }
            if let conversation = row.flatMap({ Conversation.ID(stored: $0) }) {
                unread[conversation, default: []].append(id)
            } else {
                try markAnnouncementAsRead(id)
            }
        }
        for (conversation, messages) in unread {
            let number = try readRow(of: conversation, activity)
            for id in messages {
                try sql.execute(
                    """
                    UPDATE messages SET read_by = \(number), is_unread = 0 WHERE id = \(id.bytes)
                    """)
                noteRead(id, in: conversation)
            }
            noteCommand()
            touch(conversation)
        }
    }

    /// The row that reports what is read next (K34): one that waits, or a new one.
    private func readRow(of conversation: Conversation.ID, _ activity: OutboxActivity) throws
        -> Int64
    {
        let waiting = try sql.first(
            """
            SELECT number FROM outbox WHERE conversation = \(conversation.bytes)
                AND kind = \(OutboxKind.read.rawValue) AND answered_position IS NULL
            ORDER BY number DESC LIMIT 1
            """
        ) { row in try row.int64("number") }
        if let waiting, !activity.isSending(waiting) { return waiting }
        return try enqueue(
            .read, lane: .receipts(conversation), conversation: conversation, at: Clock.now)
    }

    private func markAnnouncementAsRead(_ id: Message.ID) throws {
        let number = try enqueue(
            .announcementRead, lane: .user,
            message: Message.ID(id.value, isAnnouncement: true),
            payload: Array(#"{"type":"read"}"#.utf8), at: Clock.now)
        try sql.execute(
            "UPDATE messages SET read_by = \(number), is_unread = 0 WHERE id = \(id.bytes)")
        noteRead(id, in: nil)
    }

    fileprivate func markAllAsRead(in conversation: Conversation.ID) throws {
        let row = try sql.first(
            "SELECT unread_count, base FROM conversations WHERE id = \(conversation.bytes)"
        ) { row in (unread: try row.int64("unread_count"), base: try row.optionalBlob("base")) }
        guard let row, row.unread > 0, let base = row.base else { return }
        let top = (try? JSONDocument(base)).flatMap { document in
            ConversationJSON.readFeed(document.root)?.feedMembers?.top
        }
        let newest = try sql.first(
            """
            SELECT position FROM messages
            WHERE conversation = \(conversation.bytes) AND position IS NOT NULL
            ORDER BY place DESC LIMIT 1
            """
        ) { row in try row.int64("position") }
        let last = max(top ?? .start, Position(newest ?? 0))
        guard last > .start else { return }
        let number = try enqueue(
            .markAllRead, lane: .receipts(conversation), conversation: conversation,
            payload: Array(IntervalSet(1...last.number).text.utf8), at: Clock.now)
        let unread = try sql.rows(
            """
            SELECT id FROM messages WHERE conversation = \(conversation.bytes) AND base_unread = 1
                AND read_by = 0 AND is_hidden = 0
            """
        ) { row in Message.ID(stored: try row.blob("id")) }
        for id in unread.compactMap(\.self) {
            try sql.execute(
                """
                UPDATE messages SET read_by = \(number), is_unread = 0 WHERE id = \(id.bytes)
                """)
            noteRead(id, in: conversation)
        }
    }
}
