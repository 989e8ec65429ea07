import Blobs
import HTTP
import HTTPTransport
import Messaging
import MessagingStore
import PlatformAPI
import SQL
import SQLPostgres
import Synchronization
import TestSupport
import Testing
import Uploads
import WebSockets

/// A server; the shared one has a separate application for each test.
struct TestServer: Sendable {
    static let base = "https://chat.example.com"
    /// The host names that this server resolves.
    static let names: [String: [PeerAddress]] = [
        "hooks.example.org": [.ipv4(0x5DB8_D822, port: 0)],
        "inside.example.org": [.ipv4(0x0A00_0001, port: 0)],
        "half.example.org": [.ipv4(0x5DB8_D822, port: 0), .ipv4(0xA9FE_A9FE, port: 0)],
    ]

    let store: MessagingStore
    let service: ServerRoutes
    let port: UInt16
    let faults: FaultLog
    private let database: Database
    private let server: Server
    private let folder: String
    let clock: TestClock

    /// Whether single messages are answered from the cache, which is not done over a shared database.
    var caches: Bool { !database.isShared }

    private static let opening = Task { try await TestServer() }

    static var shared: TestServer {
        get async throws { try await opening.value }
    }

    /// A server whose database is closed.
    static func broken(_ faults: PlatformAPI.FaultKind) async throws -> TestServer {
        let server = try await TestServer(faults: faults)
        server.database.close()
        return server
    }

    /// A server with a rate limit per token.
    static func limited(_ limit: RateLimit) async throws -> TestServer {
        try await TestServer(configured: { settings in settings.rateLimit = limit })
    }

    /// A server where `Accept` must name a version.
    static var strict: TestServer {
        get async throws {
            try await TestServer(configured: { settings in settings.strictAccept = true })
        }
    }

    /// A separate server without `POST /dev/login`.
    static func withoutDevelopmentLogin() async throws -> TestServer {
        try await TestServer(configured: { settings in settings.allowsDevelopmentLogin = false })
    }

    /// A separate server with a manual clock, and the default limit of logins of an address.
    static func withLoginLimit() async throws -> TestServer {
        try await TestServer(
            clock: TestClock(step: 0),
            configured: { settings in
                settings.developmentLoginLimit = PlatformSettings().developmentLoginLimit
            })
    }

    /// A server whose API pages of every origin may use.
    static func forAllOrigins() async throws -> TestServer {
        try await TestServer(configured: { settings in settings.crossOrigins = ["*"] })
    }

    /// A server with these limits of conversations and messages.
    static func limited(_ limits: MessagingLimits) async throws -> TestServer {
        try await TestServer(limits: limits)
    }

    /// A server behind a proxy on this machine, which sends `X-Forwarded-Host`.
    static func behindProxy(
        at location: (String) -> DatabaseLocation = TestEnvironment.database(of:)
    )
        async throws -> TestServer
    {
        try await TestServer(at: location, isProxied: true)
    }

    /// A server with a limit of open streams per token and per user.
    static func streaming(_ streams: Int) async throws -> TestServer {
        try await TestServer(configured: { settings in
            settings.maximumStreamsPerToken = streams
            settings.maximumStreamsPerUser = streams
        })
    }

    /// A separate server on which a state of typing lasts that many milliseconds.
    static func typing(step: Int64) async throws -> TestServer {
        try await TestServer(configured: { settings in settings.typingStep = step })
    }

    /// A separate server on which a user without a connection stays present for that many milliseconds.
    static func presence(grace: Int64) async throws -> TestServer {
        try await TestServer(configured: { settings in settings.presenceGrace = grace })
    }

    /// A separate server where conversations of more than three participants are wide, and their receipts are told of in
    /// intervals of that many milliseconds.
    static func wide(receiptInterval: Int64) async throws -> TestServer {
        var limits = MessagingLimits()
        limits.participants = 100
        limits.wideConversation = 3
        return try await TestServer(
            limits: limits,
            configured: { settings in settings.wideReceiptInterval = receiptInterval })
    }

    /// A separate server, which can be restarted.
    static func separate() async throws -> TestServer { try await TestServer() }

    /// A separate server with a manual clock.
    static func withManualClock(
        _ limits: MessagingLimits = MessagingLimits()
    ) async throws -> TestServer {
        try await TestServer(clock: TestClock(step: 0), limits: limits)
    }

    /// A separate server whose clock advances by as many milliseconds with each read.
    static func withClock(step: Int64) async throws -> TestServer {
        try await TestServer(clock: TestClock(step: step))
    }

    /// A separate server on the other database engine than that of this test run.
    static func onOtherEngine() async throws -> TestServer {
        try await TestServer(at: TestEnvironment.otherDatabase(of:))
    }

    /// A separate server with other settings of WebSockets.
    static func sockets(
        _ configured: (inout WebSocketSettings) -> Void
    ) async throws -> TestServer {
        try await TestServer(configured: { settings in configured(&settings.webSockets) })
    }

    /// A separate server on PostgreSQL, whose database others can share.
    ///
    /// - Parameter typingStep: How long a state of typing lasts, in milliseconds.
    static func onPostgres(
        typingStep: Int64 = PlatformSettings().typingStep
    ) async throws -> TestServer {
        try await TestServer(
            at: TestEnvironment.server(of:),
            configured: { settings in settings.typingStep = typingStep })
    }

    /// Another server on the tables of one on PostgreSQL, with the same clock.
    ///
    /// - Parameters:
    ///   - pollInterval: How often it looks for commits of the other one that were not reported, in milliseconds.
    ///   - typingStep: How long a state of typing lasts, in milliseconds.
    static func sharing(
        _ other: TestServer, pollInterval: Int64 = StoreEnvironment.live.pollInterval,
        typingStep: Int64 = PlatformSettings().typingStep
    ) async throws -> TestServer {
        let location = other.location
        return try await TestServer(
            at: { _ in .server(location) }, clock: other.clock, pollInterval: pollInterval,
            configured: { settings in settings.typingStep = typingStep })
    }

    /// Two separate servers on one PostgreSQL database, which pass signals to each other. The second looks for commits of the
    /// first so rarely that only a notification can be in time.
    static func pairOnPostgres(
        typingStep: Int64 = PlatformSettings().typingStep
    ) async throws -> (first: TestServer, second: TestServer) {
        let first = try await onPostgres(typingStep: typingStep)
        let second = try await sharing(
            first, pollInterval: 3_600_000, typingStep: typingStep)
        for server in [first, second] {
            let api = server.service.api
            server.store.listen(onSignal: { application, process, signal in
                api.receive(signal, from: process, in: application)
            })
        }
        return (first, second)
    }

    /// The URL of its database schema, for servers that share it.
    var location: String { PostgresServer.shared.schema(of: folder) }

    /// A separate server with a quota of bytes per application.
    static func withQuota(of bytes: Int64) async throws -> TestServer {
        try await TestServer(quota: bytes)
    }

    /// The number of committed transactions.
    var commits: Int { database.statistics.commits }

    /// The same server after a restart.
    func reopened(
        holding quota: Int64? = nil, limits: MessagingLimits = MessagingLimits()
    ) async throws -> TestServer {
        _ = await server.drain(deadline: 1000)
        await service.uploads.shutdown()
        database.close()
        return try await TestServer(in: folder, quota: quota, limits: limits)
    }

    // Tests send more requests than the default rate limit allows, so there is none unless a test sets it.
    private init(
        faults kind: PlatformAPI.FaultKind = .unexpected,
        in known: String? = nil,
        at location: (String) -> DatabaseLocation = TestEnvironment.database(of:),
        quota: Int64? = nil, clock: TestClock = TestClock(),
        limits: MessagingLimits = MessagingLimits(), isProxied: Bool = false,
        pollInterval: Int64 = StoreEnvironment.live.pollInterval,
        configured: (inout PlatformSettings) -> Void = { _ in }
    ) async throws {
        var environment = StoreEnvironment.live
        environment.now = { clock.now() }
        environment.pollInterval = pollInterval
        let folder = try known ?? TestEnvironment.folder()
        var databaseSettings = DatabaseSettings()
        // Another server of the same test may be stalled while it holds the lock.
        databaseSettings.busyTimeout = .seconds(120)
        databaseSettings.onPrepare = StatementPlans.server.observer { flaw in
            Issue.record(Comment(rawValue: flaw))
        }
        let database = try Database.open(
            location(folder), migrations: MessagingStore.migrations, settings: databaseSettings)
        let store = MessagingStore(
            database: database, environment: environment, limits: limits)
        let base = PublicBaseURL(TestServer.base, followsProxies: isProxied)
        let uploadClock = UploadClock(now: { clock.now().milliseconds })
        let bridge = ContentBridge(store: store)
        var settings = UploadSettings()
        settings.errorBase = base
        settings.diskHeadroom = 0
        settings.applicationQuota = quota
        settings.maxUploadSize = limits.messageBytes
        let uploads = try await Uploads(
            folder: "\(folder)/uploads", settings: settings, finisher: bridge, clock: uploadClock,
            publicBase: base)
        let downloads = Downloads(
            contents: uploads.contents, catalog: bridge, settings: settings,
            keys: try SigningKeys.random(), publicBase: base, clock: uploadClock)
        let faults = FaultLog()
        var platform = PlatformSettings()
        platform.crossOrigins = ["https://app.example"]
        platform.rateLimit = .none
        platform.maximumTransfers = .max
        platform.allowsDevelopmentLogin = true
        platform.developmentLoginLimit = .none
        // Readers can be slow on a busy machine.
        platform.webSockets.idleTimeout = 300_000
        platform.webSockets.closeTimeout = 300_000
        // A ping would interrupt the silence that a test expects.
        platform.webSockets.pingInterval = 150_000
        configured(&platform)
        let api = PlatformAPI(
            store: store, uploads: uploads, downloads: downloads, publicBase: base,
            settings: platform, clock: { clock.now() },
            newContentID: {
                .v7(at: clock.now(), random: UInt128.random(in: .min ... .max))
            },
            resolveHost: { name in TestServer.names[name] ?? [] },
            onFault: { error, _ in
                faults.note(error)
                return kind
            })
        self.store = store
        self.database = database
        self.folder = folder
        self.clock = clock
        self.faults = faults
        service = ServerRoutes(api: api, uploads: uploads, downloads: downloads)
        var configuration = ServerConfiguration()
        configuration.addresses = [.ipv4(0x7F00_0001, port: 0)]
        configuration.loops = 2
        if isProxied {
            configuration.trust.proxies = ["127.0.0.1"].compactMap { text in AddressBlock(text) }
            configuration.trust.source = .xForwarded
        }
        // Clients and handlers can be slow for the same reason.
        configuration.headerTimeout = 300_000
        configuration.bodyIdleTimeout = 300_000
        configuration.bodyGrace = 300_000
        configuration.requestTimeout = 300_000
        configuration.handlerTimeout = 300_000
        configuration.queueTimeout = 300_000
        configuration.writeIdleTimeout = 300_000
        configuration.writeGrace = 300_000
        server = try Server(configuration, service: service)
        guard case .ipv4(_, let port)? = try server.start().first else {
            throw ExchangeFile.ParseError(text: "no port")
        }
        self.port = port
    }
}

/// Routes requests by the first segment of the path, like the server.
final class ServerRoutes: Service {
    let api: PlatformAPI
    let uploads: Uploads
    let downloads: Downloads

    init(api: PlatformAPI, uploads: Uploads, downloads: Downloads) {
        self.api = api
        self.uploads = uploads
        self.downloads = downloads
    }

    func answer(to request: Request) -> Answer {
        if request.target.path.hasPrefix("/uploads") {
            return uploads.answer(to: request, by: api)
        }
        if request.target.path.hasPrefix("/download/") { return downloads.answer(to: request) }
        if request.target.path == "/openapi.json" {
            return api.describe(request, "/openapi.json")
        }
        if ["/", "/ping"].contains(request.target.path), request.method == .options {
            return api.clientMethods([.get, .head, .options], request, request.target.path)
        }
        if request.target.path == "/" { return api.answerRoot(request, "/", Array("{}".utf8)) }
        if request.target.path == "/ping" { return api.ping(request, "/ping") }
        return api.answer(to: request)
    }

    func refusal(_ refusal: Refusal) -> Response { api.refusal(refusal) }
}

/// Connects uploads and downloads with the store.
struct ContentBridge: UploadFinisher, DownloadCatalog {
    let store: MessagingStore

    func finished(_ upload: FinishedUpload, within quota: Int64?) async throws {
        guard let id = Messaging.Content.ID(uuid: upload.contentID),
            let application = Application.ID(uuid: upload.owner.application)
        else { return }
        try await store.finishUpload(
            Messaging.Content(
                id: id,
                conversation: upload.owner.conversation.flatMap { Conversation.ID(uuid: $0) },
                mimeType: upload.content.mediaType, size: upload.content.size,
                fileName: upload.content.fileName,
                sha256: upload.content.sha256, crc32c: upload.content.crc32c,
                md5: upload.content.md5,
                sha512: upload.content.sha512,
                completedAt: Timestamp(milliseconds: upload.content.completedAtMilliseconds),
                origin: upload.content.origin),
            by: Perspective(upload.owner.user.flatMap { UserID($0) }), in: application)
    }

    func withdraw(_ contentID: String) async throws -> Bool {
        guard let id = Messaging.Content.ID(uuid: contentID) else { return true }
        return try await store.withdrawContent(id)
    }

    // These tests do not use the sweeper.
    func abandoned(unusedSince moment: Int64, limit: Int) async throws -> [AbandonedContent] { [] }

    func erased(_ contents: [AbandonedContent]) async throws {}

    func storedBytes(of application: String, besides contentID: String?) async throws -> Int64 {
        guard let id = Application.ID(uuid: application) else { return 0 }
        return try await store.contentBytes(in: id)
    }

    /// These tests do not download.
    func content(_ id: String) async throws -> StoredContent? { nil }
}

/// A clock that starts at the same time in each test.
final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_772_356_530_042)
    private let step: Int64

    /// - Parameter step: The milliseconds by which it advances with each read. With 1 no two objects have the
    ///   same time, so that the order of lists is defined; with 0 it is advanced only by `advance(by:)`.
    init(step: Int64 = 1) { self.step = step }

    func now() -> Timestamp {
        Timestamp(milliseconds: milliseconds.wrappingAdd(step, ordering: .relaxed).newValue)
    }

    func advance(by count: Int) {
        milliseconds.wrappingAdd(Int64(count), ordering: .relaxed)
    }
}

/// The faults that the server reported.
final class FaultLog: Sendable {
    private let count = Atomic<Int>(0)

    var reported: Int { count.load(ordering: .relaxed) }

    func note(_ fault: any Error) {
        count.wrappingAdd(1, ordering: .relaxed)
    }
}
