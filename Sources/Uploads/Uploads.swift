public import Blobs
internal import Bytes
public import HTTP
internal import SystemSupport

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
    let base: PublicBaseURL
    let active = ActiveUploads()
    let isStopping = Locked(false)
    private let sweeping = BackgroundTask()

    /// Opens the folder, recovers what a crash may have left (§11.2), starts the sweeper.
    ///
    /// - Parameters:
    ///   - folder: Made where it is missing; one process at a time (``FolderLock``).
    ///   - finisher: Told of every finished content, at least once.
    ///   - publicBase: What upload URLs begin with.
    ///   - onCommit: Told how long each commit of bytes took, bytes and record.
    ///   - bucket: Where complete contents go; `nil` for the local disk.
    public init(
        folder: String, settings: UploadSettings = UploadSettings(),
        finisher: any UploadFinisher, clock: UploadClock, publicBase: PublicBaseURL,
        bucket: ContentBucket? = nil,
        onCommit: @escaping @Sendable (UploadProtocol, Duration) -> Void = { _, _ in }
    ) async throws(DiskError) {
        let queues = WorkQueuePool("parley.uploads.disk", count: 8)
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
        let ledger = Locked(UploadLedger())
        var recordStore: any UploadRecordStore = LocalUploadRecords(
            records: records, queues: queues, ledger: ledger)
        if let bucket {
            // No part waits for longer than it takes to arrive.
            settings.commitBytes = min(settings.commitBytes, PartSize.least)
            let own = BucketStorage(
                bucket, blobs: blobs, journals: journals, clock: clock,
                longest: settings.maxUploadSize)
            storage = own
            if let registry = bucket.registry {
                let rows = SharedUploadRecords(
                    registry: registry, blobs: blobs, queues: queues, clock: clock,
                    onFault: bucket.onFault, holder: try Uploads.newHolder(),
                    peerReplyTimeout: settings.peerReplyTimeout)
                let both = SharedStorage(bucket: own, queues: queues, recordStore: rows)
                (recordStore, storage, shared) = (rows, both, both)
            }
        }
        engine = UploadEngine(
            settings: settings, clock: clock, blobs: blobs, records: recordStore,
            storage: storage, shared: shared, finisher: finisher, ledger: ledger,
            queues: queues, onCommit: onCommit)
        base = publicBase
        if let shared {
            try await LocalToSharedMigration(engine: engine, shared: shared, records: records).run()
        } else {
            let findings = try await UploadRecovery(engine: engine, records: records).run()
            for name in findings.unfinished { resume(name) }
            for record in findings.growing { resumeUploading(record) }
        }
        startSweeping()
    }

    /// A name for this process that no other one has, and that ends with it.
    private static func newHolder() throws(DiskError) -> [UInt8] {
        do throws(UploadError) {
            return try SecureRandom.bytes(16)
        } catch {
            throw DiskError(kind: .other, operation: "name this process")
        }
    }

    /// Whether uploads of a folder have bytes in a bucket, so that they can only go on with it. Waits
    /// for the disk.
    public static func needsBucket(in folder: String) throws(DiskError) -> Bool {
        try !JournalFolder(at: journals(in: folder)).entries().isEmpty
    }

    private static func journals(in folder: String) -> String { "\(folder)/parts" }

    /// The folder of the local disk, for whoever makes files of his own there.
    public var blobs: BlobFolder { engine.blobs }

    /// How many unfinished uploads one owner may have.
    public var maximumOpenPerOwner: Int { engine.settings.maxOpenUploadsPerOwner }

    /// Where complete contents lie; downloads read here.
    public var contents: ContentRepository { ContentRepository(engine.storage) }

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
            for upload in uploads { await Uploads.found(upload)?.waitUntilIdle() }
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
        let step = engine.shared == nil ? interval : min(interval, SharedUploadRecords.claimDuration)
        sweeping.start { [weak self] in
            var swept: Int64?
            while !Task.isCancelled && self != nil {
                if swept.map({ last in clock.now() - last >= interval }) ?? true {
                    swept = clock.now()
                    await self?.sweep()
                } else {
                    await self?.endUploadsExclusively()
                }
                await clock.sleep(step)
            }
        }
    }
}

extension Uploads {
    /// The one owner of an upload's state, made from its record when nobody deals with it yet.
    ///
    /// - Returns: `nil` when there is no such upload; each other result is given back by
    ///   ``checkIn(_:)``.
    /// - Throws: When nobody could look (``UploadError/busy``, ``UploadError/backend``).
    func checkOut(_ name: BlobName) async throws(UploadError) -> Upload? {
        for _ in 0..<Uploads.patience {
            // Entered before it is loaded: a record read while another owner of the same upload still
            // writes would be stale by the time it is used.
            let loading = active.enter(name) { load(name) }
            do throws(UploadError) {
                guard let upload = try await loaded(loading) else {
                    checkIn(name)
                    return nil
                }
                if try await upload.isCurrent() {
                    // Only uploads in use when the server began to stop were told so.
                    if isStopping.withLock({ $0 }) { await upload.stop() }
                    return upload
                }
            } catch {
                checkIn(name)
                if error == .notFound { return nil }
                throw error
            }
            checkIn(name)
            // Those whose requests another process has overtaken are on their way out.
            await pause(milliseconds: 10)
        }
        throw .locked
    }

    /// How often one looks again until they are gone.
    private static let patience = 1000

    private func loaded(
        _ loading: Task<ActiveUploads.Loaded, Never>
    ) async throws(UploadError) -> Upload? {
        do throws(StorageError) {
            return try await loading.value.get()
        } catch {
            throw UploadError(error)
        }
    }

    /// Lets go; an upload nobody deals with costs no memory and no open file.
    func checkIn(_ name: BlobName) {
        // Others may go on with it now, and what they come to is not known here.
        if active.leave(name), engine.shared != nil {
            engine.ledger.withLock { ledger in ledger.leave(name) }
        }
    }

    /// Does what another process asks of this one, which receives the body of an upload (ruling 33).
    ///
    /// - Parameters:
    ///   - name: Of the record, as the ``UploadRegistry`` knows it.
    ///   - holder: Who is asked, in hexadecimal digits; others do nothing.
    public func answer(_ request: UploadWriterRequest, for name: String, at holder: String) {
        guard let recordStore = engine.shared?.recordStore, holder == String(hexadecimal: recordStore.holder),
            let name = BlobName(name)
        else { return }
        Task {
            // Who waits goes on without an answer.
            guard let upload = try? await checkOut(name) else { return }
            await upload.answer(request)
            checkIn(name)
        }
    }

    /// Goes on with an upload that was being finished.
    func resume(_ name: BlobName) {
        Task {
            guard let upload = try? await checkOut(name) else { return }
            _ = await upload.finish()
            checkIn(name)
        }
    }

    /// Goes on moving what an upload held before a crash.
    func resumeUploading(_ record: UploadRecord) {
        guard record.offset >= PartSize.least, let blob = BlobName(record.contentID),
            let uploader = engine.storage.uploader(of: blob)
        else { return }
        Task {
            await uploader.advance(
                to: record.offset, length: record.length, mediaType: record.storedType)
        }
    }

    private func load(_ name: BlobName) -> Task<ActiveUploads.Loaded, Never> {
        let (engine, active) = (engine, active)
        return Task {
            do throws(StorageError) {
                let found = try await engine.records.find(name)
                return .success(found.map { kept in Upload(kept, engine, active) })
            } catch {
                return .failure(error)
            }
        }
    }
}

/// The uploads somebody deals with, each with one owner of its state (§11.4).
final class ActiveUploads: Sendable {
    /// What came of looking for an upload: there may be none, or nobody could look.
    typealias Loaded = Result<Upload?, StorageError>

    private struct Entry: Sendable {
        let upload: Task<Loaded, Never>
        var users: Int
    }

    private let entries = Locked<[BlobName: Entry]>([:])

    /// Joins those who deal with an upload; the first has it loaded.
    func enter(_ name: BlobName, load: () -> Task<Loaded, Never>) -> Task<Loaded, Never> {
        entries.withLock { entries in
            var entry = entries[name] ?? Entry(upload: load(), users: 0)
            entry.users += 1
            entries[name] = entry
            return entry.upload
        }
    }

    /// Keeps an upload that somebody deals with beyond them, until ``leave(_:)``.
    func hold(_ name: BlobName) { entries.withLock { $0[name]?.users += 1 } }

    /// Lets go; the last one forgets the owner.
    ///
    /// - Returns: Whether it was the last one.
    @discardableResult func leave(_ name: BlobName) -> Bool {
        entries.withLock { entries in
            entries[name]?.users -= 1
            guard entries[name]?.users == 0 else { return false }
            entries[name] = nil
            return true
        }
    }

    /// All of them.
    var uploads: [Task<Loaded, Never>] { entries.withLock { $0.values.map(\.upload) } }
}

// Room for bytes that come by no upload.
extension Uploads {
    /// Whether the disk has room for what is promised, and more is left free. Waits for the disk.
    ///
    /// - Throws: ``UploadError/insufficientStorage``.
    public func requireDiskSpace() throws(UploadError) {
        do throws(DiskError) {
            try engine.requireDiskSpace()
        } catch {
            throw UploadError(error)
        }
    }

    /// Whether an application may hold so many bytes beside its contents and its uploads.
    ///
    /// - Throws: ``UploadError/quotaExceeded(_:)``, ``UploadError/unavailable``.
    public func requireQuota(of application: String, for bytes: Int64) async throws(UploadError) {
        try await engine.requireQuota(of: application, besidesUploads: bytes)
    }
}
