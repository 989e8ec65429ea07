internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

// Applies what the feed says (K10). Every item is an object as it now is, so applying one twice changes nothing.
extension StoreTransaction {
    /// Applies an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - data: Its member `data`.
    func apply(_ item: FeedItemJSON, _ data: JSONValue) throws {
        switch item {
        case .conversation(let id, let conversation?):
            try apply(conversation, Array(data.raw), Conversation.ID(id))
        case .conversation(let id, nil): try removeConversation(Conversation.ID(id))
        case .message(let id, let message?): try apply(message.snapshot, Message.ID(id))
        case .message(let id, nil): try removeMessage(Message.ID(id))
        case .receipts(let conversation, let user, let receipts):
            try apply(receipts, of: UserID(user), in: Conversation.ID(conversation))
        case .identity(let user, let identity?): try apply(identity, of: UserID(user))
        case .identity(let user, nil): try removeIdentity(UserID(user))
        case .announcement(let id, let announcement?):
            try apply(announcement, Self.messageID(id))
        case .announcement(let id, nil): try removeMessage(Self.messageID(id))
        }
    }

    private static func messageID(_ id: Announcement.ID) -> Message.ID {
        Message.ID(Messaging.Message.ID(id), isAnnouncement: true)
    }

    // MARK: - Conversations

    private func apply(
        _ conversation: ConversationJSON, _ base: [UInt8], _ id: Conversation.ID
    ) throws {
        guard let feed = conversation.feedMembers else { return }
        for alias in feed.aliases { try merge(Conversation.ID(alias), into: id) }
        try insertConversation(id)
        let held = try heldPositions(of: id)
        let (from, top) = (feed.windowFrom.number, feed.top.number)
        let now = from <= top ? held.union(IntervalSet(from...top)) : held
        try sql.execute(
            """
            UPDATE conversations SET base = \(base), snapshot = \(try snapshot()), held = \(now.text)
            WHERE id = \(id.bytes)
            """)
        if feed.clearedTo.number > 0 {
            try removeMessages(of: id, upTo: feed.clearedTo.number)
        }
        for identity in conversation.participants { try noteMentioned(identity) }
        touch(id)
    }

    /// Makes the row of a conversation, if there is none.
    func insertConversation(_ id: Conversation.ID) throws {
        try sql.execute("INSERT OR IGNORE INTO conversations (id) VALUES (\(id.bytes))")
    }

    /// The positions of which every message is here (K13).
    func heldPositions(of id: Conversation.ID) throws -> IntervalSet {
        let text = try sql.first(
            "SELECT held FROM conversations WHERE id = \(id.bytes)"
        ) { row in try row.text("held") }
        return text.flatMap { text in IntervalSet(text: text) } ?? IntervalSet()
    }

    /// Removes what the server no longer shows. Commands stay, because the server decides on them: a send to a conversation
    /// that another device of the user has deleted shows it again, and one to a conversation that is gone fails (K28).
    private func removeConversation(_ id: Conversation.ID) throws {
        try sql.execute(
            "UPDATE conversations SET base = NULL, held = '', snapshot = 0 WHERE id = \(id.bytes)")
        try removeMessages(of: id, upTo: .max)
        try sql.execute("DELETE FROM receipts WHERE conversation = \(id.bytes)")
        shared.ownReceipts[id] = nil
        touch(id)
    }

    private func removeMessages(of id: Conversation.ID, upTo position: Int64) throws {
        let messages = try sql.rows(
            """
            SELECT id FROM messages WHERE conversation = \(id.bytes) AND place <= \(position)
                AND position IS NOT NULL
            """
        ) { row in Message.ID(stored: try row.blob("id")) }
        for message in messages.compactMap(\.self) { try removeMessage(message) }
    }

    /// Merges a conversation into another one (K23): its messages, commands and receipts move, and its id finds the other
    /// one from then on.
    func merge(_ former: Conversation.ID, into id: Conversation.ID) throws {
        guard former != id else { return }
        let known = try sql.currentID(of: former)
        guard known != id else { return }
        let (from, to) = (former.bytes, id.bytes)
        try sql.execute("UPDATE aliases SET conversation = \(to) WHERE conversation = \(from)")
        try sql.execute(
            "INSERT OR REPLACE INTO aliases (former, conversation) VALUES (\(from), \(to))")
        let row = try sql.first(
            "SELECT base IS NOT NULL AS known, is_hidden FROM conversations WHERE id = \(from)"
        ) { row in (isKnown: try row.bool("known"), isHidden: try row.bool("is_hidden")) }
        guard let row else { return }
        try insertConversation(id)
        if row.isKnown {
            // The positions of both are new: their messages come again, and those that do not are older than the window.
            try sql.execute(
                """
                UPDATE messages SET snapshot = -1
                WHERE conversation IN (\(from), \(to)) AND position IS NOT NULL
                """)
            // Up to a position of before the merge nothing can be marked. The messages here can.
            try sql.execute(
                """
                UPDATE outbox SET kind = \(OutboxKind.read.rawValue), payload = \([UInt8]())
                WHERE conversation IN (\(from), \(to)) AND kind = \(OutboxKind.markAllRead.rawValue)
                    AND answered_position IS NULL
                """)
            try sql.execute("UPDATE conversations SET held = '' WHERE id = \(to)")
            try sql.execute("DELETE FROM receipts WHERE conversation IN (\(from), \(to))")
            shared.ownReceipts = [:]
        }
        try sql.execute("UPDATE messages SET conversation = \(to) WHERE conversation = \(from)")
        try sql.execute(
            """
            UPDATE outbox SET conversation = \(to), lane = replace(lane, \(former.value.uuid), \(id.value.uuid))
            WHERE conversation = \(from)
            """)
        for table in [
            "DELETE FROM participants WHERE conversation = \(from)",
            "DELETE FROM metadata WHERE conversation = \(from)",
            "DELETE FROM conversations WHERE id = \(from)",
        ] as [SQL] { try sql.execute(table) }
        note(.renamed(from: .conversation(former)), of: .conversation(id))
        // Its commands are in another lane now.
        noteCommand()
        touch(id)
    }

    // MARK: - Messages

    /// Applies a message as the server shows it to the user.
    func apply(_ shown: MessageSnapshot, _ id: Message.ID) throws {
        let message = shown.message
        let conversation = Conversation.ID(message.conversation)
        let me = try user()
        let isOwn = message.sender.userID.map { user in UserID(user) == me } ?? false
        let own = try shared.ownReceipts[conversation] ?? receipts(of: me, in: conversation)
        shared.ownReceipts[conversation] = own
        let isUnread =
            !isOwn && shown.isUnread == true && !own.read.contains(message.position.number)
        let needsDelivery =
            !isOwn && !own.delivered.contains(message.position.number)
            && shown.recipients.first { UserID($0.userID) == me }?.status == .sent
        try store(
            MessageRow(
                id: id, conversation: conversation, position: message.position.number,
                sender: message.sender, sentAt: message.sentAt.milliseconds,
                receivedAt: shown.receivedAt?.milliseconds,
                recipients: shown.recipients.map { UserID($0.userID) }, isUnread: isUnread,
                needsDelivery: needsDelivery, parts: message.parts))
        if let sender = shown.sender { try noteMentioned(sender) }
        if needsDelivery { try enqueueDelivery(in: conversation) }
        touch(conversation)
    }

    private func apply(_ shown: AnnouncementJSON, _ id: Message.ID) throws {
        guard case .viewer(let user, let status) = shown.recipients else { return }
        try store(
            MessageRow(
                id: id, conversation: nil, position: nil, sender: shown.announcement.sender,
                sentAt: shown.announcement.sentAt.milliseconds,
                receivedAt: shown.announcement.sentAt.milliseconds, recipients: [UserID(user)],
                isUnread: status != .read, needsDelivery: false, parts: shown.announcement.parts))
        if let sender = shown.sender { try noteMentioned(sender) }
    }

    /// A message as the server sends it.
    private struct MessageRow {
        let id: Message.ID
        let conversation: Conversation.ID?
        let position: Int64?
        let sender: Messaging.Sender
        let sentAt: Int64
        let receivedAt: Int64?
        let recipients: [UserID]
        let isUnread: Bool
        let needsDelivery: Bool
        let parts: [Messaging.MessagePart]
    }

    private func store(_ message: MessageRow) throws {
        let before = try sql.first(
            """
            SELECT is_sent, is_unread, is_hidden, position, snapshot = -1 AS was_moved FROM messages
            WHERE id = \(message.id.bytes)
            """
        ) { row in
            (
                isSent: try row.bool("is_sent"), isUnread: try row.bool("is_unread"),
                isHidden: try row.bool("is_hidden"), position: try row.optionalInt64("position"),
                wasMoved: try row.bool("was_moved")
            )
        }
        let (sender, name): (String?, String?) =
            switch message.sender {
            case .user(let user): (user.text, nil)
            case .named(let name): (nil, name)
            }
        try sql.execute(
            """
            INSERT INTO messages (id, conversation, snapshot, position, place, sender, sender_name, sent_at,
                received_at, recipients, base_unread, needs_delivery, is_unread)
            VALUES (\(message.id.bytes), \(message.conversation?.bytes), \(try snapshot()),
                \(message.position), \(message.position ?? message.sentAt), \(sender), \(name),
                \(message.sentAt), \(message.receivedAt), \(Self.json(message.recipients)),
                \(message.isUnread), \(message.needsDelivery), \(message.isUnread))
            ON CONFLICT (id) DO UPDATE SET conversation = excluded.conversation,
                snapshot = excluded.snapshot, position = excluded.position, place = excluded.place,
                sender = excluded.sender, sender_name = excluded.sender_name,
                sent_at = excluded.sent_at, received_at = excluded.received_at,
                recipients = excluded.recipients, base_unread = excluded.base_unread,
                needs_delivery = excluded.needs_delivery,
                is_unread = excluded.base_unread AND read_by = 0, is_sent = 1
            """)
        let partsChanged = try storeParts(of: message, isNew: before == nil)
        let object = ObjectID.message(message.id)
        guard let before else { return note(.created, of: object, in: message.conversation) }
        if before.wasMoved, let id = message.conversation { shared.completed.insert(id) }
        guard !before.isHidden else { return }
        if !before.isSent {
            note(.updated(property: "delivery"), of: object, in: message.conversation)
        }
        if before.position != message.position {
            note(
                .updated(property: "position"), of: object, in: message.conversation,
                from: before.position.map { number in .number(number) },
                to: message.position.map { number in .number(number) })
        }
        if before.isUnread, !message.isUnread {
            noteRead(message.id, in: message.conversation)
        }
        if partsChanged {
            note(.updated(property: "parts"), of: object, in: message.conversation)
        }
    }

    /// - Returns: Whether the parts of a known message have changed.
    private func storeParts(of message: MessageRow, isNew: Bool) throws -> Bool {
        let bytes = message.id.bytes
        let known =
            isNew
            ? []
            : try sql.rows(
                """
                SELECT name, mime_type, size, body, content FROM parts WHERE message = \(bytes) ORDER BY part
                """
            ) { row in
                [
                    try row.value("name"), try row.value("mime_type"), try row.value("size"),
                    try row.value("body"), try row.value("content"),
                ]
            }
        let parts = message.parts.map { part -> [SQLValue] in
            let name = message.conversation == nil ? String(part.index) : part.id.uuid
            let (body, content): ([UInt8]?, Messaging.Content.ID?) =
                switch part.body {
                case .inline(let bytes): (bytes, nil)
                case .content(let id, _): (nil, id)
                }
            return [
                name.sqlValue, part.mimeType.sqlValue, part.size.sqlValue, body.sqlValue,
                (content?.bytes).sqlValue,
            ]
        }
        guard known != parts else { return false }
        // A part whose content is the same keeps its file.
        var former = isNew ? [] : try removeParts(of: message.id)
        for (index, part) in parts.enumerated() {
            var state = PartTransfer(status: .complete)
            if case .content(let id, let size) = message.parts[index].body {
                if let known = former.firstIndex(where: { $0.content == id.bytes }) {
                    state = former.remove(at: known)
                } else {
                    state = try newTransfer(size: size, message.parts[index].mimeType)
                }
            }
            try sql.execute(
                """
                INSERT INTO parts (message, part, name, mime_type, size, body, content, status, file, accessed_at,
                    held, etag, wanted, is_paused)
                VALUES (\(bytes), \(index), \(part[0]), \(part[1]), \(part[2]), \(part[3]), \(part[4]),
                    \(state.status.rawValue), \(state.file), \(state.accessedAt), \(state.held),
                    \(state.etag), \(state.wanted.rawValue), \(state.isPaused))
                """)
        }
        for state in former { drop(state) }
        return !isNew
    }

    /// Removes a message and what belongs to it.
    func removeMessage(_ id: Message.ID) throws {
        let row = try sql.first(
            "SELECT conversation, is_hidden, snapshot = -1 AS was_moved FROM messages WHERE id = \(id.bytes)"
        ) { row in
            (
                conversation: try row.optionalBlob("conversation"),
                isHidden: try row.bool("is_hidden"), wasMoved: try row.bool("was_moved")
            )
        }
        guard let row else { return }
        for state in try removeParts(of: id) { drop(state) }
        try sql.execute("DELETE FROM messages WHERE id = \(id.bytes)")
        let conversation = row.conversation.flatMap { bytes in
            Conversation.ID(stored: bytes)
        }
        if !row.isHidden {
            let known = Message.ID(id.value, isAnnouncement: conversation == nil)
            note(.deleted, of: .message(known), in: conversation)
        }
        if let conversation {
            touch(conversation)
            if row.wasMoved { shared.completed.insert(conversation) }
        }
    }

    // MARK: - Receipts

    /// What a user has received and read in a conversation, as the feed last said.
    func receipts(of user: UserID, in conversation: Conversation.ID) throws -> Receipts {
        let row = try sql.first(
            """
            SELECT delivered, read FROM receipts
            WHERE conversation = \(conversation.bytes) AND user = \(user.text)
            """
        ) { row in
            Receipts(
                delivered: IntervalSet(text: try row.text("delivered")) ?? IntervalSet(),
                read: IntervalSet(text: try row.text("read")) ?? IntervalSet())
        }
        return row ?? Receipts()
    }

    private func apply(
        _ receipts: Receipts, of user: UserID, in conversation: Conversation.ID
    ) throws {
        let before = try self.receipts(of: user, in: conversation)
        try sql.execute(
            """
            INSERT OR REPLACE INTO receipts (conversation, user, snapshot, delivered, read)
            VALUES (\(conversation.bytes), \(user.text), \(try snapshot()),
                \(receipts.delivered.text), \(receipts.read.text))
            """)
        let added = Receipts(
            delivered: receipts.delivered.subtracting(before.delivered),
            read: receipts.read.subtracting(before.read))
        if try user == self.user() {
            shared.ownReceipts[conversation] = receipts
            try applyOwn(added, in: conversation)
        }
        for interval in added.read.union(added.delivered).intervals {
            // More changes than the limit become one `resynchronize`.
            let messages = try sql.rows(
                """
                SELECT id FROM messages WHERE conversation = \(conversation.bytes)
                    AND place BETWEEN \(interval.lowerBound) AND \(interval.upperBound) AND is_hidden = 0
                LIMIT \(Store.Commit.changeLimit + 1)
                """
            ) { row in Message.ID(stored: try row.blob("id")) }
            for message in messages.compactMap(\.self) {
                note(
                    .updated(property: "recipientStatus"), of: .message(message), in: conversation)
            }
        }
        touch(conversation)
    }

    /// Marks what the user has read or received on a device. What was known before is marked already, because a message
    /// that comes later is compared with the receipts.
    private func applyOwn(_ added: Receipts, in conversation: Conversation.ID) throws {
        for interval in added.read.intervals {
            let positions: SQL =
                "position BETWEEN \(interval.lowerBound) AND \(interval.upperBound)"
            let unread = try sql.rows(
                """
                SELECT id FROM messages WHERE conversation = \(conversation.bytes)
                    AND base_unread = 1 AND \(positions) AND is_unread = 1
                LIMIT \(Store.Commit.changeLimit + 1)
                """
            ) { row in Message.ID(stored: try row.blob("id")) }
            for id in unread.compactMap(\.self) { noteRead(id, in: conversation) }
            try sql.execute(
                """
                UPDATE messages SET base_unread = 0, is_unread = 0
                WHERE conversation = \(conversation.bytes) AND base_unread = 1 AND \(positions)
                """)
        }
        for interval in added.delivered.intervals {
            try markDelivered(interval, in: conversation)
        }
    }

    /// Marks messages whose delivery the server has recorded.
    func markDelivered(_ positions: ClosedRange<Int64>, in conversation: Conversation.ID) throws {
        try sql.execute(
            """
            UPDATE messages SET needs_delivery = 0
            WHERE conversation = \(conversation.bytes) AND needs_delivery = 1
                AND position BETWEEN \(positions.lowerBound) AND \(positions.upperBound)
            """)
    }

    // MARK: - Identities

    private func apply(_ identity: Messaging.Identity, of user: UserID) throws {
        let metadata = Metadata.object(identity.metadata.mapValues { text in .text(text) })
        let before = try sql.first(
            "SELECT is_followed FROM identities WHERE user = \(user.text)"
        ) { row in try row.bool("is_followed") }
        try sql.execute(
            """
            INSERT OR REPLACE INTO identities (user, is_followed, snapshot, display_name, first_name, last_name,
                email_address, phone_number, public_key, avatar_url, metadata)
            VALUES (\(user.text), 1, \(try snapshot()), \(identity[.displayName]),
                \(identity[.firstName]), \(identity[.lastName]), \(identity[.emailAddress]),
                \(identity[.phoneNumber]), \(identity[.publicKey]), \(identity[.avatarURL]),
                \(metadata.stored))
            """)
        shared.mentioned[user] = nil
        note(before == nil ? .created : .updated(property: "identity"), of: .identity(user))
    }

    /// Stores the name of a user that a conversation or message mentions, unless the feed sends the whole identity.
    private func noteMentioned(_ identity: BasicIdentity) throws {
        let user = UserID(identity.userID)
        guard shared.mentioned[user] != identity else { return }
        shared.mentioned[user] = identity
        let before = try sql.first(
            "SELECT is_followed, display_name, avatar_url FROM identities WHERE user = \(user.text)"
        ) { row in
            (
                isFollowed: try row.bool("is_followed"),
                name: try row.optionalText("display_name"),
                avatarURL: try row.optionalText("avatar_url")
            )
        }
        if let before {
            guard !before.isFollowed,
                (before.name, before.avatarURL) != (identity.displayName, identity.avatarURL)
            else { return }
        }
        try sql.execute(
            """
            INSERT INTO identities (user, is_followed, snapshot, display_name, avatar_url)
            VALUES (\(user.text), 0, 0, \(identity.displayName), \(identity.avatarURL))
            ON CONFLICT (user) DO UPDATE SET display_name = excluded.display_name,
                avatar_url = excluded.avatar_url
            """)
        note(before == nil ? .created : .updated(property: "identity"), of: .identity(user))
    }

    private func removeIdentity(_ user: UserID) throws {
        shared.mentioned[user] = nil
        guard try sql.hasRow(in: "identities WHERE user = \(user.text) AND is_followed = 1") else {
            return
        }
        try sql.execute("UPDATE identities SET is_followed = 0 WHERE user = \(user.text)")
        note(
            .updated(property: "isFollowed"), of: .identity(user), from: .flag(true),
            to: .flag(false))
    }

    // MARK: - Snapshots

    /// Begins a snapshot: what it does not name is removed at its end.
    func beginSnapshot() throws {
        try set("snapshot", String(try snapshot() + 1))
        try set("in_snapshot", "1")
        try sql.execute("UPDATE conversations SET held = ''")
    }

    /// The client has everything: ends a snapshot, and drops messages whose positions a merge has changed.
    ///
    /// - Parameter end: Where the feed is now. A message that was sent since is not in the snapshot, and comes later.
    func reachEnd(at end: FeedPosition?) throws {
        let stale: SQL
        if try setting("in_snapshot") != nil {
            let number = try snapshot()
            let conversations = try sql.rows(
                "SELECT id FROM conversations WHERE base IS NOT NULL AND snapshot < \(number)"
            ) { row in Conversation.ID(stored: try row.blob("id")) }
            for id in conversations.compactMap(\.self) {
                try removeConversation(id)
            }
            try sql.execute("DELETE FROM receipts WHERE snapshot < \(number)")
            shared.ownReceipts = [:]
            let followed = try sql.rows(
                "SELECT user FROM identities WHERE is_followed = 1 AND snapshot < \(number)"
            ) { row in UserID(try row.text("user")) }
            for user in followed { try removeIdentity(user) }
            try set("in_snapshot", nil)
            // Receipts were held until now.
            noteCommand()
            stale = """
                SELECT id FROM messages
                WHERE snapshot < \(number) AND (position IS NOT NULL OR conversation IS NULL)
                """
        } else {
            stale = "SELECT id FROM messages WHERE snapshot = -1 AND position IS NOT NULL"
        }
        let messages = try sql.rows(
            """
            \(stale) AND NOT EXISTS (
                SELECT 1 FROM outbox WHERE message = messages.id AND kind = \(OutboxKind.send.rawValue)
                    AND answered_epoch = \(end?.epoch ?? "") AND answered_position > \(end?.position ?? 0))
            """
        ) { row in Message.ID(stored: try row.blob("id")) }
        for id in messages.compactMap(\.self) { try removeMessage(id) }
        // A former database of the server has answered these commands; no feed will show their effects. Not earlier than
        // here, because until then an answer of another epoch may be of a newer database than the cursor.
        guard let end else { return }
        try sql.execute(
            """
            UPDATE outbox SET answered_epoch = ''
            WHERE answered_position IS NOT NULL AND answered_epoch <> \(end.epoch)
            """)
    }

    static func json(_ users: [UserID]) -> String {
        var writer = JSONWriter()
        writer.array { writer in for user in users { writer.string(user.text) } }
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}
