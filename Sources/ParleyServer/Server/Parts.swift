import Blobs
import HTTP
import HTTPTransport
import Logging
import Messaging
import MessagingStore
import PlatformAPI
import SQL
import Telemetry
import Uploads

/// The composition root: the one place that knows every part and how they fit.
///
/// From the bottom up: lock, database, store, uploads and downloads, doors, sockets.
struct Parts: Sendable {
    let lock: FolderLock
    let database: Database
    let store: MessagingStore
    let uploads: Uploads
    let readiness: Readiness
    let service: ServerService
    let server: Server

    /// Puts a server together that listens nowhere yet.
    ///
    /// - Throws: ``StartFailure``.
    init(_ settings: Settings, log: Log) async throws {
        let folder = settings.dataFolder
        lock = try StartFailure.naming(folder) { try FolderLock(folder: folder) }
        database = try StartFailure.naming(folder) { try Database.open(settings) }
        store = MessagingStore(database: database)
        let bridge = ContentBridge(store: store)
        let clock = UploadClock(now: systemMilliseconds)
        do {
            uploads = try await Uploads(
                folder: "\(folder)/uploads", settings: settings.uploads, finisher: bridge,
                clock: clock,
                publicBase: settings.transferBase)
        } catch {
            throw StartFailure("the data folder \(folder) cannot be used: \(error)")
        }
        let keys = try StartFailure.naming(folder) { try SigningKeys.load(folder: folder) }
        let downloads = Downloads(
            blobs: uploads.blobs, catalog: bridge, settings: settings.uploads, keys: keys,
            publicBase: settings.transferBase, clock: clock)
        let environment = StoreEnvironment.live
        let api = PlatformAPI(
            store: store, uploads: uploads, downloads: downloads, publicBase: settings.base,
            clock: environment.now, newContentID: environment.newContentID,
            onFault: FaultLog(logger: log.logger("parley.api")).note(_:of:))
        readiness = Readiness()
        let service = ServerService(
            api: api, uploads: uploads, downloads: downloads, readiness: readiness,
            publicURL: settings.base
        ) { [store, environment] in
            // Any row will do, also one that is not there.
            _ = try await store.application(.v7(at: environment.now(), random: 0))
        }
        self.service = service
        server = try StartFailure.naming(folder) {
            try Server(
                settings.transport, service: service,
                observer: AccessLog(log.sink, level: settings.accessLevel))
        }
    }

    /// Lets go of the database, once nobody is served any more.
    func close() { database.close() }
}
