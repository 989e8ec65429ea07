import Blobs
import Console
import HTTP
import HTTPTransport
import Logging
import Messaging
import MessagingStore
import MessagingWire
import PlatformAPI
import Readers
import SQL
import Telemetry
import Uploads

/// The composition root: creates all components of a server and connects them.
///
/// In order of dependency: lock, database, store, uploads and downloads, services, listeners.
struct ServerComponents: Sendable {
    private let lock: FolderLock
    let database: Database
    let store: MessagingStore
    let uploads: Uploads
    let downloads: Downloads
    let downloadKeys: DownloadKeyStore
    /// Reloads the bucket's credentials; `nil` without a bucket.
    let credentials: BucketCredentials?
    let api: PlatformAPI
    let exporter: Exporter
    /// Erases users.
    let eraser: Eraser
    /// Delivers webhooks.
    let webhookSupervisor: WebhookSupervisor
    /// Sends scheduled messages.
    let sender: ScheduledSender
    /// Deletes old events.
    let maintenance: StoreMaintenance
    let readiness: Readiness
    let metrics: ServerMetrics
    let service: ServerService
    let server: Server
    /// Serves the metrics on separate addresses; `nil` without such addresses.
    let metricsServer: Server?
    /// Redirects all requests to the addresses with TLS (H173); `nil` if not configured.
    let redirect: Server?
    /// The API of the console; `nil` if there is none.
    let consoleAPI: ConsoleAPI?
    /// The console on separate addresses and its server; `nil` without such addresses.
    let consoleService: ServerService?
    let consoleServer: Server?
    /// Reports this process to the others that share the database.
    let processReporter: ProcessReporter
    /// The settings as the console shows them.
    let shownSettings: ShownSettings
    /// The samples that the console shows.
    let statistics: Statistics
    private let accessLog: AccessLog

    /// Creates the components; no listener is open yet.
    ///
    /// - Throws: ``CommandFailure``.
    init(_ settings: Settings, log: ServerLog) async throws {
        let folder = settings.dataFolder
        lock = try CommandFailure.naming(folder) { try FolderLock(folder: folder) }
        let transport = settings.transport
        let accessLog = AccessLog(log.sink, level: settings.accessLevel)
        let metrics = ServerMetrics(loops: transport.loops, log: accessLog, sink: log.sink)
        database = try Database.open(settings) { [times = metrics.commitTimes] duration in
            times.observe(Int(duration / .nanoseconds(1)))
        }
        store = MessagingStore(database: database, limits: settings.messagingLimits)
        readiness = Readiness()
        let faults = { [readiness] label in
            FaultLog(logger: log.logger(label), readiness: readiness)
        }
        let trimFaults = faults("parley.events")
        maintenance = StoreMaintenance(store: store, retention: settings.eventRetention) { error in
            trimFaults.noteTrimming(error)
        }
        let bridge = DatabaseContentCatalog(store: store)
        let clock = UploadClock(now: systemMilliseconds)
        let bucket = try await BucketConnector(
            settings: settings.bucket, logger: log.logger("parley.bucket")
        ).bucket(
            registry: settings.sharesUploads(store) ? DatabaseUploadRegistry(store: store) : nil)
        credentials = bucket?.credentials
        if bucket == nil,
            try CommandFailure.naming(folder, { try Uploads.needsBucket(in: "\(folder)/uploads") })
        {
            throw CommandFailure(
                "uploads in \(folder) have bytes in a bucket: s3.bucket must name it until they have ended"
            )
        }
        var transfers = settings.uploads
        transfers.errorPath = ErrorJSON.page
        transfers.errorBase = settings.publicBase
        do {
            uploads = try await Uploads(
                folder: "\(folder)/uploads", settings: transfers, finisher: bridge,
                clock: clock,
                publicBase: settings.transferBase, bucket: bucket?.contents,
                onCommit: metrics.observe)
        } catch {
            throw CommandFailure(error, in: folder)
        }
        downloadKeys = DownloadKeyStore(store: store, folder: folder)
        let keys = try await downloadKeys.load(
            recording: transfers.downloadURLTTL, at: systemMilliseconds())
        downloads = Downloads(
            contents: uploads.contents, catalog: bridge, settings: transfers, keys: keys,
            publicBase: settings.transferBase, clock: clock)
        let environment = StoreEnvironment.live
        exporter = Exporter(
            store: store, blobs: uploads.blobs, contents: uploads.contents, downloads: downloads,
            publicBase: settings.base, now: environment.now,
            onFault: faults("parley.export").note(_:of:))
        eraser = Eraser(
            store: store, uploads: uploads, onFault: faults("parley.erasure").note(_:of:))
        let deliveryLog = faults("parley.webhooks")
        webhookSupervisor = WebhookSupervisor(
            store: store, downloads: downloads, publicBase: settings.base,
            settings: settings.delivery, environment: environment,
            observe: metrics.observeAttempt, onFault: deliveryLog.noteDelivery,
            onDeactivation: deliveryLog.noteDeactivation)
        api = PlatformAPI(
            store: store, uploads: uploads, downloads: downloads, publicBase: settings.publicBase,
            settings: settings.api, clock: environment.now,
            newContentID: environment.newContentID,
            resolveHost: { [names = HostLookup()] host in
                await names.addresses(of: host, within: .seconds(5))
            },
            onFault: faults("parley.api").note(_:of:))
        sender = ScheduledSender(
            store: store, onTyping: api.show, onFault: faults("parley.schedule").note(_:of:))
        let metricsEndpoint = MetricsEndpoint(metrics, token: settings.metricsToken)
        let probe = ReadinessProbe(now: systemMilliseconds) { [store, environment] in
            // Any read is sufficient, also of an id that does not exist.
            _ = try await store.application(.v7(at: environment.now(), random: 0))
        }
        let shownSettings = ShownSettings(settings)
        self.shownSettings = shownSettings
        let statistics = Statistics(clock: environment.now) {
            await metrics.counters(folder: folder)
        }
        self.statistics = statistics
        let consoleSubject = ConsoleServer(
            name: Release.name, version: Release.version, startedAt: environment.now(),
            statistics: statistics,
            apiBase: settings.consoleTransport == nil ? nil : settings.base
        ) { shownSettings.all }
        processReporter = ProcessReporter(
            store: store, server: consoleSubject, clock: environment.now)
        let backup = settings.console.backupFolder.map { target in
            Command.consoleBackup(settings, in: target, bucket: bucket?.contents)
        }
        let consoleAPI =
            try settings.console.isEnabled
            ? ConsoleAPI(
                store: store, platform: api, settings: settings.console, server: consoleSubject,
                jobFolder: CommandFailure.naming(folder) { try BlobFolder(at: "\(folder)/jobs") },
                backup: backup, publicURL: settings.publicURL, clock: environment.now)
            : nil
        self.consoleAPI = consoleAPI
        let consoleTransport = settings.consoleTransport
        let console = Console(settings, limits: store.limits)
        let service = { [api, uploads, downloads, readiness] (part: ServerService.Part) in
            ServerService(
                part, api: api, uploads: uploads, downloads: downloads, readiness: readiness,
                metrics: metricsEndpoint, probe: probe, publicBase: settings.publicBase,
                console: console, consoleAPI: consoleAPI,
                hosts: HostRule(
                    publicURL: settings.publicURL, allowed: settings.http.head.allowedHosts),
                servesDocumentation: settings.servesDocumentation)
        }
        let mainService = service(consoleTransport == nil ? .all : .withoutConsole)
        self.service = mainService
        redirect = try settings.redirectTransport.map { transport in
            try Server(transport, service: RedirectService(to: settings.base))
        }
        self.accessLog = accessLog
        let watch = ServerObserver(metrics.requests, accessLog)
        server = try CommandFailure.naming(folder) {
            try Server(transport, service: mainService, observer: watch)
        }
        let consoleService = consoleTransport.map { _ in service(.console) }
        self.consoleService = consoleService
        consoleServer = try CommandFailure.naming(folder) {
            try consoleTransport.flatMap { transport in
                try consoleService.map { service in
                    try Server(transport, service: service, observer: watch)
                }
            }
        }
        metricsServer = try CommandFailure.naming(folder) {
            try settings.metricsTransport.map { transport in
                try Server(transport, service: MetricsService(metricsEndpoint), observer: watch)
            }
        }
        self.metrics = metrics
        metrics.setSources(
            ServerMetrics.Sources(
                server: server, database: database, uploads: uploads, api: api,
                webhookSupervisor: webhookSupervisor))
    }

    /// Applies the settings that may change in a running server (H196).
    func apply(_ settings: Settings) {
        accessLog.level.set(settings.accessLevel)
        api.apply(settings.api)
        server.apply(settings.transport)
        if let transport = settings.consoleTransport { consoleServer?.apply(transport) }
        if let transport = settings.metricsTransport { metricsServer?.apply(transport) }
    }

    /// Closes the database; call after the last request.
    func close() { database.close() }
}
