import JSON
import Messaging
import Testing

@testable import MessagingStore

/// An application with its tokens, and what exchanges have remembered so far.
struct SampleApplication: Sendable {
    private(set) var world: TestServer
    let application: Application.ID
    var variables: [String: String]

    /// A fresh application, and others to be refused for.
    static func make(version: String = "1.1", in world: TestServer? = nil) async throws
        -> SampleApplication
    {
        let world = if let world { world } else { try await TestServer.shared }
        let store = world.store
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
        return SampleApplication(world: world, application: application, variables: variables)
    }

    /// The same scene after a restart of its own world.
    func reopened(
        holding quota: Int64? = nil, limits: MessagingLimits = MessagingLimits()
    ) async throws -> SampleApplication {
        var scene = self
        scene.world = try await world.reopened(holding: quota, limits: limits)
        return scene
    }

    /// The events of the application's log behind a position.
    func events(after position: Int64 = 0) async throws -> [Event] {
        try await world.store.events(
            after: LogPosition(position), limit: 100_000, in: application
        ).map(\.event)
    }

    /// How many events the application's log holds.
    func eventCount() async throws -> Int {
        try await world.store.events(after: .start, limit: 100_000, in: application).count
    }

    /// Sends a request with its variables filled in.
    func ask(_ request: PlainRequest, by client: any TestClient) async throws -> PlainAnswer {
        try await client.ask(
            PlainRequest(
                method: request.method, target: try path(request.target.filled(with: variables)),
                fields: try request.fields.map { ($0.name, try $0.value.filled(with: variables)) },
                body: try request.body.filled(with: variables)))
    }

    /// A JSON request in the scene's version, with its strongest token.
    func ask(
        _ method: String, _ target: String, _ body: String = "",
        fields: [(name: String, value: String)] = [], bytes: [UInt8]? = nil,
        by client: any TestClient
    ) async throws -> PlainAnswer {
        let standard = [
            (name: "Authorization", value: "Bearer {token}"),
            (name: "Accept", value: "application/vnd.layer+json; version={version}"),
        ]
        return try await client.ask(
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
    /// How far the log of the application goes.
    func end() async throws -> Int64 {
        try await world.store.logExtent(in: application).end.number
    }

    /// A new conversation of two.
    func conversation() async throws -> Conversation.ID {
        try await world.store.createConversation(
            Conversation.Draft(participants: [UserID("ana"), UserID("bo")].compactMap(\.self)),
            in: application
        ).object.conversation.id
    }

    /// A webhook receives it for a while: all states of a webhook occur.
    func listen() async throws {
        let (store, draft) = (
            world.store,
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
    /// - Parameter parts: How many parts each has, of 2000 bytes if there is more than one.
    func say(_ count: Int, in conversation: Conversation.ID, parts: Int = 1) async throws {
        let body = [UInt8](repeating: UInt8(ascii: "a"), count: parts > 1 ? 2000 : 2)
        for _ in 0..<count {
            _ = try await world.store.sendMessage(
                Message.Draft(
                    sender: .named("Billing"),
                    parts: try (0..<parts).map { _ in
                        try MessagePart.Draft(mimeType: "text/plain", body: .inline(body))
                    }),
                to: conversation, in: application)
        }
    }
}

// Two distinct conversations of one set side by side, as no request ever makes them.
extension MessagingStore {
    /// Creates a conversation beside the one its participants may have.
    func placeBeside(_ conversation: Conversation, in application: Application.ID) async throws {
        try await change(in: application) { context in
            try context.record(
                .conversationCreated(ConversationCreated(conversation: conversation)))
        }
    }

    /// Merges them.
    @discardableResult
    func reconcile(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { context in try context.reconcile(id).winner }
    }
}
