import Blobs
import HTTP
import Messaging
import SQL
import SQLPostgres
import SystemSupport
import TestSupport
import Testing
import Uploads

@testable import MessagingStore
@testable import Readers

/// A store with an application, and a running webhook supervisor.
final class WebhookFixture: Sendable {
    let store: MessagingStore
    let application: Application.ID
    let settings: WebhookSettings
    private let folder = TemporaryFolder()
    private let schema = PostgresServer.isChosen ? BorrowedSchema() : nil
    private let database: Database
    private let downloads: Downloads
    private let webhookSupervisor: Locked<WebhookSupervisor?> = Locked(nil)
    private let faults = Locked<[String]>([])
    private let deactivations = Locked<[String]>([])

    /// Settings with retries after a few milliseconds, targets on this machine, and timeouts long enough
    /// for a busy machine.
    static var quick: WebhookSettings {
        var settings = WebhookSettings()
        settings.targets.allowedNetworks = ["127.0.0.0/8"].compactMap(AddressBlock.init)
        settings.targets.allowsHTTP = true
        settings.schedule = RetrySchedule(waits: [20, 20])
        settings.responseTimeout = 60_000
        settings.verifiesWithin = 120_000
        settings.deadShare = 100
        return settings
    }

    /// A fixture with this response timeout.
    static func waiting(_ milliseconds: Int64) async throws -> WebhookFixture {
        var settings = quick
        settings.responseTimeout = milliseconds
        return try await WebhookFixture(settings)
    }

    init(_ settings: WebhookSettings = quick) async throws {
        self.settings = settings
        database = try Database.open(
            schema.map { schema in .server(schema.url) } ?? .file("\(folder.path)/database"),
            migrations: MessagingStore.migrations)
        store = MessagingStore(database: database)
        downloads = Downloads(
            contents: ContentRepository(try BlobFolder(at: "\(folder.path)/blobs")),
            catalog: NoContents(),
            keys: try SigningKeys.random(), publicBase: PublicBaseURL(SampleApplication.base),
            clock: UploadClock(now: { StoreEnvironment.live.now().milliseconds }))
        application = try await store.createApplication(name: "Office").id
        open()
    }

    deinit { schema?.release { [database] in database.close() } }

    /// Starts the supervisor.
    func open() {
        let opened = WebhookSupervisor(
            store: store, downloads: downloads, publicBase: SampleApplication.base,
            settings: settings,
            environment: .live,
            onFault: { [faults] error in faults.withLock { $0.append("\(error)") } },
            onDeactivation: { [deactivations] _, _, reason in
                deactivations.withLock { $0.append(reason) }
            })
        opened.start()
        webhookSupervisor.withLock { $0 = opened }
    }

    /// Stops the supervisor; every test deletions with it, so that no fault is missed.
    func close() async {
        let webhookSupervisor = webhookSupervisor.withLock { webhookSupervisor in
            defer { webhookSupervisor = nil }
            return webhookSupervisor
        }
        await webhookSupervisor?.stop()
    }

    var statistics: WebhookStatistics {
        webhookSupervisor.withLock { $0?.statistics ?? WebhookStatistics() }
    }
    var reported: [String] { faults.withLock { $0 } }
    var deactivated: [String] { deactivations.withLock { $0 } }

    /// Registers a webhook.
    func register(
        _ target: String, _ topics: [WebhookTopic] = [.messageSent], secret: String = "s3cret",
        version: WebhookVersion = .v2_0
    ) async throws -> Webhook {
        try await store.createWebhook(
            Webhook.Draft(
                payloadVersion: version, target: target, topics: topics, secret: secret,
                config: nil),
            in: application)
    }

    /// Registers a webhook and waits until it is verified.
    func activate(_ target: String, _ topics: [WebhookTopic] = [.messageSent]) async throws
        -> Webhook
    {
        let webhook = try await register(target, topics)
        try await expectSoon("the webhook is active") {
            if case .active = try await status(of: webhook) { true } else { false }
        }
        return try await store.webhook(webhook.id, in: application)
    }

    func status(of webhook: Webhook) async throws -> Webhook.Status {
        try await store.webhook(webhook.id, in: application).status
    }

    /// The changes of a webhook's status in the log that have no author.
    func changes(of webhook: Webhook) async throws -> [Webhook.Status] {
        try await store.events(after: .start, limit: 10_000, in: application).compactMap { event in
            guard case .webhookUpdated(let change) = event.event, change.webhook.id == webhook.id,
                event.actor == nil
            else { return nil }
            return change.webhook.status
        }
    }

    func conversation() async throws -> Conversation.ID {
        try await store.createConversation(
            Conversation.Draft(
                participants: ["ana", "bo"].compactMap { UserID($0) }, isDistinct: false,
                metadata: nil, proposedID: nil), key: nil, in: application
        ).object.conversation.id
    }

    @discardableResult
    func send(
        _ text: String, in conversation: Conversation.ID, within trace: Trace? = nil
    ) async throws -> Message.ID {
        try await store.within(trace).sendMessage(
            Message.Draft(
                sender: .service("Billing"),
                parts: [
                    MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))
                ],
                proposedID: nil), to: conversation, key: nil, in: application
        ).object.message.id
    }

    func deliveries(
        of webhook: Webhook, _ state: WebhookDelivery.State? = nil
    ) async throws -> [WebhookDelivery] {
        try await store.deliveries(
            of: webhook.id, in: state, limit: 1000, withLogs: true, of: application
        ).items
            .reversed()
    }

    /// Waits until a webhook has that many deliveries in a state.
    func expect(
        _ count: Int, _ state: WebhookDelivery.State, of webhook: Webhook
    ) async throws {
        try await expectSoon("\(count) \(state)") {
            try await deliveries(of: webhook, state).count == count
        }
    }
}

extension TestWebhookTarget.ReceivedRequest {
    /// The text of the message in the request.
    var messageText: String {
        text.firstMatch(of: /"body":"([^"]*)"/).map { String($0.1) } ?? ""
    }
}

// Creates two distinct conversations of the same participants, as only an import can.
extension MessagingStore {
    /// Creates a conversation in addition to another of the same participants.
    func addDistinctConversation(_ conversation: Conversation, in application: Application.ID)
        async throws
    {
        try await change(in: application) { recording in
            try recording.record(
                .conversationCreated(ConversationCreated(conversation: conversation)))
        }
    }

    /// Merges the conversations.
    @discardableResult
    func reconcile(
        _ id: Conversation.ID, in application: Application.ID
    ) async throws -> Conversation.ID {
        try await change(in: application) { recording in try recording.reconcile(id) }
    }
}
