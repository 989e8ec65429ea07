public import Blobs
public import HTTP
import Locking

/// The upload resource: bytes come in pieces, survive cuts and crashes, and end as a content.
///
/// ```
/// folder/records/<sha-256 of the token>    one small record per upload, also of ended ones
/// folder/blobs/staged/<content id>         bytes still arriving
/// folder/blobs/content/…                   complete contents
/// folder/parts/<content id>                what of an upload lies in a bucket already
/// ```
public final class Uploads: Sendable {
    /// The route for logs; the token in a path is a secret.
    public static let route = "/uploads/{token}"
    /// The route of the creation endpoint for logs.
    public static let creationRoute = "/uploads"
    /// `Allow` of an upload that is open or complete.
    static let methods = "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS"
    /// `Allow` for a request that names no protocol.
    static let plainMethods = "GET, HEAD, PUT, POST, DELETE, OPTIONS"
    /// `Allow` of the creation endpoint; the IETF protocol alone creates with `PUT`.
    static let creationMethods = "POST, PUT, OPTIONS"
    /// `Allow` of an upload that has ended without a content, or that is unknown.
    static let noMethods = "OPTIONS"

    let engine: UploadEngine
    let base: PublicBase
    let active = ActiveUploads()
    let isStopping = Locked(false)
    private let sweeping = BackgroundTask()

    /// Opens the folder, recovers what a crash may have left (§11.2), starts the sweeper.
    ///
    /// - Parameters:
    ///   - folder: Made where it is missing; one process at a time (``FolderLock``).
    ///   - finisher: Told of every finished content, at least once.
    ///   - publicBase: What upload URLs begin with.
    ///   - onCommit: Told how long each commit of octets took, bytes and record.
    ///   - bucket: Where complete contents go; `nil` for the local disk.
    public init(
        folder: String, settings: UploadSettings = UploadSettings(),
        finisher: any UploadFinisher, clock: UploadClock, publicBase: PublicBase,
        bucket: ContentBucket? = nil,
        onCommit: @escaping @Sendable (UploadDialect, Duration) -> Void = { _, _ in }
    ) async throws(DiskError) {
        let queues = WorkQueues("parley.uploads.disk", count: 8)
        let (blobs, records, journals) = try await WorkQueue("parley.uploads.start").run {
            () throws(DiskError) in
            return (
                try BlobFolder(at: "\(folder)/blobs"), try RecordFolder(at: "\(folder)/records"),
                try JournalFolder(at: Uploads.journals(in: folder))
            )
        }
        var settings = settings
        var storage: any ContentStorage = DiskStorage(blobs: blobs)
        var shared: SharedStorage?
        let ledger = Locked(Ledger())
        var shelf: any RecordShelf = LocalShelf(records: records, queues: queues, ledger: ledger)
        if let bucket {
            // No part waits for longer than it takes to arrive.
            settings.commitBytes = min(settings.commitBytes, PartSize.least)
            let own = BucketStorage(
                bucket, blobs: blobs, journals: journals, clock: clock,
                longest: settings.maxUploadSize)
            storage = own
            if let registry = bucket.registry {
                let rows = SharedShelf(
                    registry: registry, blobs: blobs, queues: queues, clock: clock,
                    onFault: bucket.onFault, holder: try Uploads.newHolder(),
                    answerPatience: settings.answerPatience)
                let both = SharedStorage(bucket: own, queues: queues, shelf: rows)
                (shelf, storage, shared) = (rows, both, both)
            }
        }
        engine = UploadEngine(
            settings: settings, clock: clock, blobs: blobs, records: shelf,
            storage: storage, shared: shared, finisher: finisher, ledger: ledger,
            queues: queues, onCommit: onCommit)
        base = publicBase
        if let shared {
            try await Handover(engine: engine, shared: shared, records: records).run()
        } else {
            let findings = try await Recovery(engine: engine, records: records).run()
            for name in findings.unfinished { resume(name) }
            for record in findings.growing { goOnMoving(record) }
        }
        startSweeping()
    }

    /// A name for this process that no other one has, and that ends with it.
    private static func newHolder() throws(DiskError) -> [UInt8] {
        do throws(UploadError) {
            return try Randomness.bytes(16)
        } catch {
            throw DiskError(kind: .other, operation: "name this process")
        }
    }

    /// Whether uploads of a folder have bytes in a bucket, so that they can only go on with it. Waits
    /// for the disk.
    public static func needBucket(in folder: String) throws(DiskError) -> Bool {
        try !JournalFolder(at: journals(in: folder)).entries().isEmpty
    }

    private static func journals(in folder: String) -> String { "\(folder)/parts" }

    /// The folder of the local disk, for whoever makes files of his own there.
    public var blobs: BlobFolder { engine.blobs }

    /// How many unfinished uploads one owner may have.
    public var maximumOpenPerOwner: Int { engine.settings.maxOpenUploadsPerOwner }

    /// Where complete contents lie; downloads read here.
    public var contents: Contents { Contents(engine.storage) }

    /// Stops taking requests, lets running ones commit, waits up to ten seconds for finalizing and
    /// for the sweeper.
    public func shutdown() async {
        isStopping.withLock { $0 = true }
        let uploads = active.uploads
        for upload in uploads { await Uploads.found(upload)?.stop() }
        let clock = engine.clock
        let deadline = Task { await clock.sleep(10_000) }
        let waiting = Task {
            await sweeping.stop()
            for upload in uploads { await Uploads.found(upload)?.settleDown() }
            deadline.cancel()
        }
        await deadline.value
        waiting.cancel()
    }

    private static func found(_ upload: Task<ActiveUploads.Loaded, Never>) async -> Upload? {
        try? await upload.value.get()
    }

    private func startSweeping() {
        let interval = engine.settings.sweepInterval
        guard interval > 0 else { return }
        let clock = engine.clock
        // What a process was finishing that died is finished by another one, and soon.
        let step = engine.shared == nil ? interval : min(interval, SharedShelf.patience)
        sweeping.start { [weak self] in
            var swept: Int64?
            while !Task.isCancelled && self != nil {
                if swept.map({ last in clock.now() - last >= interval }) ?? true {
                    swept = clock.now()
                    await self?.sweep()
                } else {
                    await self?.endUploadsAlone()
                }
                await clock.sleep(step)
            }
        }
    }
}
