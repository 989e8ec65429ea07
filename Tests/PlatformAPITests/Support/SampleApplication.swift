import JSON
import Messaging
import Testing

@testable import MessagingStore

/// An application with its tokens, and the variables of exchanges.
struct SampleApplication: Sendable {
    private(set) var server: TestServer
    let application: Application.ID
    var variables: [String: String]

    /// A new application, and others whose tokens must be rejected.
    static func make(version: String = "1.1", in server: TestServer? = nil) async throws
        -> SampleApplication
    {
        let server = if let server { server } else { try await TestServer.shared }
        let store = server.store
        let application = try await store.createApplication(name: "test").id
        let other = try await store.createApplication(name: "other").id
        let suspended = try await store.createApplication(name: "suspended").id
        let past = Timestamp(milliseconds: 1)
        var variables = [
            "base": TestServer.base, "version": version, "app": application.uuid,
            "APP": application.uuid.uppercased(),
            "other_app": other.uuid, "suspended_app": suspended.uuid,
        ]
        variables["token"] = try await store.createToken(for: application, scope: .admin).secret
        variables["read_token"] = try await store.createToken(for: application, scope: .read).secret
        variables["write_token"] =
            try await store.createToken(for: application, scope: .write).secret
        variables["expired_token"] =
            try await store.createToken(for: application, scope: .admin, expiresAt: past).secret
        variables["other_token"] = try await store.createToken(for: other, scope: .admin).secret
        variables["suspended_token"] =
            try await store.createToken(for: suspended, scope: .admin).secret
        try await store.suspendApplication(suspended, true)
        return SampleApplication(server: server, application: application, variables: variables)
    }

    /// The same application after a restart of its server.
    func reopened(
        holding quota: Int64? = nil, limits: MessagingLimits = MessagingLimits()
    ) async throws -> SampleApplication {
        var sample = self
        sample.server = try await server.reopened(holding: quota, limits: limits)
        return sample
    }

    /// The events of the application's log after a position.
    func events(after position: Int64 = 0) async throws -> [Event] {
        try await server.store.events(
            after: LogPosition(position), limit: 100_000, in: application
        ).map(\.event)
    }

    /// The number of events in the application's log.
    func eventCount() async throws -> Int {
        try await server.store.events(after: .start, limit: 100_000, in: application).count
    }

    /// Sends a request with its variables replaced.
    func send(_ request: PlainRequest, by client: any TestClient) async throws -> PlainAnswer {
        try await client.send(
            PlainRequest(
                method: request.method, target: try path(request.target.filled(with: variables)),
                fields: try request.fields.map { ($0.name, try $0.value.filled(with: variables)) },
                body: try request.body.filled(with: variables)))
    }

    /// Sends a JSON request in the application's version, with its admin token.
    func send(
        _ method: String, _ target: String, _ body: String = "",
        fields: [(name: String, value: String)] = [], bytes: [UInt8]? = nil,
        by client: any TestClient
    ) async throws -> PlainAnswer {
        let standard = [
            (name: "Authorization", value: "Bearer {token}"),
            (name: "Accept", value: "application/vnd.layer+json; version={version}"),
        ]
        return try await client.send(
            PlainRequest(
                method: method, target: target.filled(with: variables),
                fields: (standard + fields).map { ($0.name, try $0.value.filled(with: variables)) },
                body: body, bytes: bytes))
    }

    private func path(_ url: String) throws -> String {
        url.hasPrefix(TestServer.base) ? String(url.dropFirst(TestServer.base.count)) : url
    }
}

extension SampleApplication {
    /// The last position of the application's log.
    func end() async throws -> Int64 {
        try await server.store.logExtent(in: application).end.number
    }

    /// A new conversation of two users.
    func conversation() async throws -> Conversation.ID {
        try await server.store.createConversation(
            Conversation.Draft(participants: [UserID("ana"), UserID("bo")].compactMap(\.self)),
            in: application
        ).object.conversation.id
    }

    /// Takes a webhook through all its states.
    func cycleWebhookStates() async throws {
        let (store, draft) = (
            server.store,
            try Webhook.Draft(
                payloadVersion: .v3_0, target: "https://hooks.example.org/in",
                topics: [.messageSent], secret: "s3cret", config: nil)
        )
        let webhook = try await store.createWebhook(draft, in: application)
        try await store.finishVerification(of: webhook, failure: nil, in: application)
        _ = try await store.rotateSecret(to: "n3w", keeping: 0, of: webhook.id, in: application)
        _ = try await store.deactivateWebhook(webhook.id, in: application)
        try await store.deleteWebhook(webhook.id, in: application)
    }

    /// Sends messages one after the other.
    ///
    /// - Parameter parts: The number of parts of each, of 2000 bytes if there is more than one.
    func sendMessages(_ count: Int, in conversation: Conversation.ID, parts: Int = 1) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: parts > 1 ? 2000 : 2)
        for _ in 0..<count {
            _ = try await server.store.sendMessage(
                Message.Draft(
                    sender: .named("Billing"),
                    parts: try (0..<parts).map { _ in
                        try MessagePart.Draft(mimeType: "text/plain", body: .inline(body))
                    }),
                to: conversation, in: application)
        }
    }
}

extension MessagingStore {
    /// Begins a session that no clock ends: the processes of other tests do not have that of this one.
    ///
    /// - Returns: The session token.
    func beginLastingSession(
        of user: UserID, named name: String, in application: Application.ID
    ) async throws -> String {
        let token = String(UInt128.random(in: .min ... .max), radix: 16)
        let digest = environment.sha256(Array(token.utf8))
        let id: Session.ID = environment.newID()
        _ = try await createIdentity(
            Identity(userID: user, displayName: name), in: application)
        try await change(in: application) { context in
            let session = Session(
                id: id, user: user, createdAt: context.now,
                expiresAt: Timestamp(milliseconds: 1 << 50), lastUsedAt: context.now,
                userAgent: nil)
            try context.record(.sessionCreated(SessionCreated(session: session, digest: digest)))
        }
        return token
    }
}

// Creates two distinct conversations of the same participants, as only an import can.
extension MessagingStore {
    /// Creates a conversation in addition to one of the same participants.
    func addDistinctConversation(_ conversation: Conversation, in application: Application.ID)
        async throws
    {
        try await change(in: application) { context in
            try context.record(
                .conversationCreated(ConversationCreated(conversation: conversation)))
        }
    }

    /// Merges the conversations, and sorts their messages one by one.
    @discardableResult
    func reconcile(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        let winner = try await change(in: application) { context in try context.reconcile(id) }
        try await sortMessages(of: winner, in: application, atMost: 1)
        return winner
    }
}
