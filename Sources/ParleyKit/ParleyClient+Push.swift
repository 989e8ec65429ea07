internal import FoundationEssentials
internal import JSON
internal import SQL

/// A token with which a service of a platform reaches this device.
public struct PushToken: Hashable, Sendable {
    /// The services.
    public enum Service: String, Sendable {
        /// Apple's; the token in hexadecimal.
        case apns
        /// Google's.
        case gcm
    }

    /// The service.
    public let service: Service
    /// The token.
    public let text: String
    /// The bundle id of the app, for Apple's service.
    public let bundle: String?

    /// A token.
    public init(_ service: Service, _ text: String, bundle: String? = nil) {
        self.service = service
        self.text = text
        self.bundle = bundle
    }
}

/// The message that a push notification of the server is about.
public struct PushTarget: Hashable, Sendable {
    /// The conversation; `nil` for an announcement.
    public let conversation: Conversation.ID?
    /// The message or announcement.
    public let message: Message.ID

    /// Reads what the system passes to an application with a notification; `nil` for one of another sender.
    public init?(_ userInfo: [AnyHashable: Any]) {
        let named: (String) -> String?
        if let layer = userInfo["layer"] as? [String: Any] {
            named = { name in layer[name] as? String }
        } else if let text = userInfo["layer"] as? String,
            let layer = try? JSONDocument(Array(text.utf8)), layer.root.kind == .object
        {
            // Google's service passes texts only.
            named = { name in layer.root[name]?.string }
        } else {
            return nil
        }
        if let message = named("message_identifier").flatMap(Message.ID.init),
            let conversation = named("conversation_identifier").flatMap(Conversation.ID.init),
            !message.isAnnouncement
        {
            (self.conversation, self.message) = (conversation, message)
        } else if let message = named("announcement_identifier").flatMap(Message.ID.init),
            message.isAnnouncement
        {
            (self.conversation, self.message) = (nil, message)
        } else {
            return nil
        }
    }
}

/// What this device has of a push notification's message.
public struct PushResult: Hashable, Sendable {
    /// The conversation; `nil` for an announcement, and if it was deleted meanwhile.
    public let conversation: Conversation?
    /// The message; `nil` if it was deleted meanwhile.
    public let message: Message?
}

extension ParleyClient {
    /// Receives the message of a push notification, with everything else that has changed, without staying connected.
    ///
    /// - Throws: `timedOut` if it takes longer than the limit, or an error of the network.
    @discardableResult
    public func handlePush(
        _ target: PushTarget, within limit: Duration = .seconds(20)
    ) async throws(ParleyError) -> PushResult {
        if connection == .live {
            // The stream is on its way to the message; it may have passed it, if the message was deleted.
            do throws(ParleyError) {
                try await waitFor(.message(target.message), within: limit)
            } catch {
                guard error.code == .timedOut else { throw error }
            }
        } else {
            try await catchUp(within: limit)
        }
        return try await read { reader in
            PushResult(
                conversation: try target.conversation.flatMap { id in
                    try reader.conversation(id)
                },
                message: try reader.message(target.message))
        }
    }

    /// Tells the server how to reach this device; the last token replaces earlier ones.
    public func registerPushToken(_ token: PushToken) async throws(ParleyError) {
        try await enqueuePush(.registerPush) { device in
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("type", token.service.rawValue)
                writer.member("token", token.text)
                writer.member("device_id", device)
                if let bundle = token.bundle { writer.member("apns_bundle_id", bundle) }
            }
            return writer.finish()
        }
    }

    /// Tells the server not to reach this device any more.
    public func unregisterPushToken() async throws(ParleyError) {
        try await enqueuePush(.unregisterPush) { device in Array(device.utf8) }
    }

    private func enqueuePush(
        _ kind: OutboxKind, _ payload: @escaping @Sendable (_ device: String) -> [UInt8]
    ) async throws(ParleyError) {
        try await store.write { transaction in
            let known = try transaction.setting("device")
            let device = known ?? UUID().uuidString.lowercased()
            if known == nil { try transaction.set("device", device) }
            // Of several commands the last counts (K34).
            try transaction.sql.execute(
                """
                DELETE FROM outbox WHERE lane = \(StoreTransaction.Lane.user.text)
                    AND kind IN ('register_push', 'unregister_push') AND answered_position IS NULL
                """)
            try transaction.enqueue(kind, lane: .user, payload: payload(device), at: Clock.now)
        }
    }
}

extension ParleyClient {
    /// What a developer needs to understand a problem, as JSON: the state of the connection, how many objects there are, what
    /// waits in the outbox, and the last 200 lines of the log. It has no texts, tokens or URLs of contents.
    public func diagnostics() async throws(ParleyError) -> [UInt8] {
        let (connection, log) = (connection.name, engine.log.lines)
        return try await store.read { sql in
            let transaction = StoreTransaction(sql)
            var writer = JSONWriter()
            let counts = try sql.first(
                """
                SELECT (SELECT count(*) FROM conversations) AS conversations,
                    (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM parts) AS parts,
                    (SELECT count(*) FROM identities) AS identities, (SELECT count(*) FROM outbox) AS outbox
                """
            ) { row in
                try ["conversations", "messages", "parts", "identities", "outbox"].map { name in
                    (name, try row.int64(.name(name)))
                }
            }
            let rows = try sql.rows(
                """
                SELECT number, lane, kind, created_at, answered_position,
                    failure IS NOT NULL AS has_failed
                FROM outbox ORDER BY number LIMIT 200
                """
            ) { row in
                (
                    number: try row.int64("number"), lane: try row.text("lane"),
                    kind: try row.text("kind"), at: try row.int64("created_at"),
                    answered: try row.optionalInt64("answered_position"),
                    hasFailed: try row.bool("has_failed")
                )
            }
            let cursor = try transaction.setting("cursor")
            writer.object { writer in
                writer.member("connection", connection)
                writer.member("cursor", cursor)
                writer.key("rows")
                writer.object { writer in
                    for (name, count) in counts ?? [] {
                        writer.key(name)
                        writer.integer(count)
                    }
                }
                writer.key("outbox")
                writer.array { writer in
                    for row in rows {
                        writer.object { writer in
                            writer.member("number", row.number)
                            writer.member("lane", row.lane)
                            writer.member("kind", row.kind)
                            writer.member("created_at", row.at)
                            writer.member("has_failed", row.hasFailed)
                            if let answered = row.answered {
                                writer.member("answered_position", answered)
                            }
                        }
                    }
                }
                writer.key("log")
                writer.array { writer in for line in log { writer.string(line) } }
            }
            return writer.finish()
        }
    }
}
