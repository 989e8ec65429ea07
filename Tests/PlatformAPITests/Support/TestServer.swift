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
import Uploads

/// One server for all tests: each scene gets an application of its own in it.
struct TestServer: Sendable {
    static let base = "https://chat.example.com"
    /// The hosts that are known here, and where they are.
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

    /// Whether answers are remembered here: not over a database that others change, too.
    var remembers: Bool { !database.isShared }

    private static let opening = Task { try await TestServer() }

    static var shared: TestServer {
        get async throws { try await opening.value }
    }

    /// A world whose database is gone.
    static func broken(_ faults: PlatformAPI.FaultKind) async throws -> TestServer {
        let world = try await TestServer(faults: faults)
        world.database.close()
        return world
    }

    /// A world where each token has its limit.
    static func limited(_ limit: RateLimit) async throws -> TestServer {
        try await TestServer(settled: { settings in settings.rateLimit = limit })
    }

    /// A world where `Accept` must name a version.
    static var strict: TestServer {
        get async throws {
            try await TestServer(settled: { settings in settings.strictAccept = true })
        }
    }

    /// A world where conversations and messages have these limits.
    static func limited(_ limits: MessagingLimits) async throws -> TestServer {
        try await TestServer(limits: limits)
    }

    /// A world behind a proxy on this machine, which says by `X-Forwarded-Host` where clients come to.
    static func behindProxy(at place: (String) -> DatabaseLocation = TestEnvironment.database(of:))
        async throws -> TestServer
    {
        try await TestServer(at: place, isProxied: true)
    }

    /// A world where each token may have so many streams open.
    static func streaming(_ streams: Int) async throws -> TestServer {
        try await TestServer(settled: { settings in settings.maximumStreamsPerToken = streams })
    }

    /// A world of its own, to be closed and opened again.
    static func separate() async throws -> TestServer { try await TestServer() }

    /// A world of its own whose clock stands still until it is advanced.
    static func stopped() async throws -> TestServer {
        try await TestServer(clock: TestClock(step: 0))
    }

    /// A world of its own on the other engine than these tests run on.
    static func elsewhere() async throws -> TestServer {
        try await TestServer(at: TestEnvironment.otherDatabase(of:))
    }

    /// A world of its own on a PostgreSQL server, which others may share.
    static func atServer() async throws -> TestServer {
        try await TestServer(at: TestEnvironment.server(of:))
    }

    /// Where its tables are, for servers that share them.
    var location: String { PostgresServer.shared.schema(of: folder) }

    /// A world of its own where an application may hold so many bytes.
    static func holding(atMost bytes: Int64) async throws -> TestServer {
        try await TestServer(quota: bytes)
    }

    /// How many transactions have changed something.
    var commits: Int { database.statistics.commits }

    /// The same world after a restart.
    func reopened(
        holding quota: Int64? = nil, limits: MessagingLimits = MessagingLimits()
    ) async throws -> TestServer {
        _ = await server.drain(deadline: 1000)
        await service.uploads.shutdown()
        database.close()
        return try await TestServer(in: folder, quota: quota, limits: limits)
    }

    // Tables of tests send more than a token may, so there is no limit unless a test sets it.
    private init(
        faults kind: PlatformAPI.FaultKind = .unexpected,
        in known: String? = nil,
        at place: (String) -> DatabaseLocation = TestEnvironment.database(of:),
        quota: Int64? = nil, clock: TestClock = TestClock(),
        limits: MessagingLimits = MessagingLimits(), isProxied: Bool = false,
        settled: (inout PlatformSettings) -> Void = { _ in }
    ) async throws {
        var environment = StoreEnvironment.live
        environment.now = { clock.now() }
        let folder = try known ?? TestEnvironment.folder()
        let database = try Database.open(
            place(folder), migrations: MessagingStore.migrations)
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
        settled(&platform)
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
        // A reader may be slow here for as long as the machine is busy.
        configuration.writeIdleTimeout = 300_000
        configuration.writeGrace = 300_000
        server = try Server(configuration, service: service)
        guard case .ipv4(_, let port)? = try server.start().first else {
            throw ExchangeFile.Mistake(text: "no port")
        }
        self.port = port
    }
}

/// As in the server: the first segment of a path chooses the module.
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
        if request.target.path == "/docs/errors" {
            return api.explainErrors(request, "/docs/errors")
        }
        return api.answer(to: request)
    }

    func refusal(_ refusal: Refusal) -> Response { api.refusal(refusal) }
}

/// Content goes from the uploads to the store, and from there to the downloads.
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
                mimeType: upload.mediaType, size: upload.size, fileName: upload.fileName,
                sha256: upload.sha256, crc32c: upload.crc32c, md5: upload.md5,
                sha512: upload.sha512,
                completedAt: Timestamp(milliseconds: upload.completedAtMilliseconds),
                origin: upload.origin),
            by: upload.owner.user.flatMap { UserID($0) }, in: application)
    }

    func withdraw(_ contentID: String) async throws -> Bool {
        guard let id = Messaging.Content.ID(uuid: contentID) else { return true }
        return try await store.withdrawContent(id)
    }

    // These tests wait for no sweeper.
    func abandoned(unusedSince moment: Int64, limit: Int) async throws -> [AbandonedContent] { [] }

    func erased(_ contents: [AbandonedContent]) async throws {}

    func storedBytes(of application: String, besides contentID: String?) async throws -> Int64 {
        guard let id = Application.ID(uuid: application) else { return 0 }
        return try await store.contentBytes(in: id)
    }

    /// These tests download nothing.
    func content(_ id: String) async throws -> StoredContent? { nil }
}

/// A clock for tests, which starts at the same time in each.
final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_772_356_530_042)
    private let step: Int64

    /// - Parameter step: By how many milliseconds it goes on each time it is read. With 1 no two things are
    ///   made at the same time, and lists have one order; with 0 it stands still until it is advanced.
    init(step: Int64 = 1) { self.step = step }

    func now() -> Timestamp {
        Timestamp(milliseconds: milliseconds.wrappingAdd(step, ordering: .relaxed).newValue)
    }

    func advance(by count: Int) {
        milliseconds.wrappingAdd(Int64(count), ordering: .relaxed)
    }
}

/// The faults the server has met; a test that provokes none expects none.
final class FaultLog: Sendable {
    private let count = Atomic<Int>(0)

    var reported: Int { count.load(ordering: .relaxed) }

    func note(_ fault: any Error) {
        count.wrappingAdd(1, ordering: .relaxed)
    }
}
