public import Blobs
internal import Bytes
public import HTTP
internal import SystemSupport

/// The upload resource: accepts bytes in several requests, survives interruptions and crashes, and publishes
/// content.
///
/// ```
/// folder/records/<sha-256 of the token>    one small record per upload, also of ended ones
/// folder/blobs/staged/<content id>         bytes still arriving
/// folder/blobs/content/…                   complete contents
/// folder/parts/<content id>                the parts of an upload that are in a bucket
/// ```
public final class Uploads: Sendable {
    /// The route for logs; the token in a path is a secret.
    public static let route = "/uploads/{token}"
    /// The route of the creation endpoint, for logs.
    public static let creationRoute = "/uploads"
    /// `Allow` of an upload that is open or complete.
    static let methods = "GET, HEAD, PUT, PATCH, POST, DELETE, OPTIONS"
    /// `Allow` for a request that names no protocol.
    static let plainMethods = "GET, HEAD, PUT, POST, DELETE, OPTIONS"
    /// `Allow` of the creation endpoint; only the IETF protocol creates with `PUT`.
    static let creationMethods = "POST, PUT, OPTIONS"
    /// `Allow` of an upload that is unknown or has ended without content.
    static let noMethods = "OPTIONS"

    let engine: UploadEngine
    let base: PublicBaseURL
    private let active = ActiveUploads()
    let isStopping = Locked(false)
    private let sweeping = BackgroundTask()

    /// Opens the folder, recovers from a crash (§11.2) and starts the sweeper.
    ///
    /// - Parameters:
    ///   - folder: Created when missing; used by one process at a time (``FolderLock``).
    ///   - finisher: Called for every finished content, at least once.
    ///   - publicBase: The base of upload URLs.
    ///   - onCommit: Called with the duration of each commit of bytes and record.
    ///   - bucket: Where complete content goes; `nil` for the local disk.
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
            // Commits at least once per part, so that no complete part waits to be sent.
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

    /// A random name for this process, until it ends.
    private static func newHolder() throws(DiskError) -> [UInt8] {
        do throws(UploadError) {
            return try SecureRandom.bytes(16)
        } catch {
            throw DiskError(kind: .other, operation: "naming this process")
        }
    }

    /// Whether uploads of a folder have bytes in a bucket and cannot continue without it. Waits for the disk.
    public static func needsBucket(in folder: String) throws(DiskError) -> Bool {
        try !JournalFolder(at: journals(in: folder)).entries().isEmpty
    }

    private static func journals(in folder: String) -> String { "\(folder)/parts" }

    /// The folder on the local disk, also for files that other modules generate there.
    public var blobs: BlobFolder { engine.blobs }

    /// How many unfinished uploads one owner may have.
    public var maximumOpenPerOwner: Int { engine.settings.maxOpenUploadsPerOwner }

    /// The complete content, for downloads.
    public var contents: ContentRepository { ContentRepository(engine.storage) }

    /// Refuses new requests, lets running ones commit, and waits up to ten seconds for uploads being finished and
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
        // An upload that a crashed process was finishing is finished by another process within seconds.
        let step =
            engine.shared == nil ? interval : min(interval, SharedUploadRecords.claimDuration)
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
    /// The ``Upload`` of a record, created when no request uses it yet.
    ///
    /// - Returns: `nil` when there is no such upload; otherwise the caller ends with ``checkIn(_:)``.
    /// - Throws: When the record could not be read (``UploadError/busy``, ``UploadError/backend``).
    func checkOut(_ name: BlobName) async throws(UploadError) -> Upload? {
        for _ in 0..<Uploads.checkOutAttempts {
            // Registered before the record is loaded: a record read while another `Upload` of the same record still
            // writes would be out of date.
            let loading = active.enter(name) { load(name) }
            do throws(UploadError) {
                guard let upload = try await loaded(loading) else {
                    checkIn(name)
                    return nil
                }
                if try await upload.isCurrent() {
                    // The stopping server has stopped only the uploads that were in use then.
                    if isStopping.withLock({ $0 }) { await upload.stop() }
                    return upload
                }
            } catch {
                checkIn(name)
                if error == .notFound { return nil }
                throw error
            }
            checkIn(name)
            // Requests of an upload that another process has taken over are ending.
            await pause(milliseconds: 10)
        }
        throw .locked
    }

    /// How many times ``checkOut(_:)`` loads a record before it reports the upload as locked.
    private static let checkOutAttempts = 1000

    private func loaded(
        _ loading: Task<ActiveUploads.Loaded, Never>
    ) async throws(UploadError) -> Upload? {
        do throws(StorageError) {
            return try await loading.value.get()
        } catch {
            throw UploadError(error)
        }
    }

    /// Ends the use of an upload; one that no request uses takes no memory and no open file.
    func checkIn(_ name: BlobName) {
        // Another process may continue it now, so its numbers here would be out of date.
        if active.leave(name), engine.shared != nil {
            engine.ledger.withLock { ledger in ledger.leave(name) }
        }
    }

    /// Carries out a request of another process to this one, which receives the body of an upload (ruling 33).
    ///
    /// - Parameters:
    ///   - name: The name of the record in the ``UploadRegistry``.
    ///   - holder: The process that the request is for, in hexadecimal digits; other processes do nothing.
    public func answer(_ request: UploadWriterRequest, for name: String, at holder: String) {
        guard let recordStore = engine.shared?.recordStore,
            holder == String(hexadecimal: recordStore.holder),
            let name = BlobName(name)
        else { return }
        Task {
            // If this fails, the requesting process continues after its timeout.
            guard let upload = try? await checkOut(name) else { return }
            await upload.answer(request)
            checkIn(name)
        }
    }

    /// Continues to finish an upload after a crash.
    private func resume(_ name: BlobName) {
        Task {
            guard let upload = try? await checkOut(name) else { return }
            _ = await upload.finish()
            checkIn(name)
        }
    }

    /// Continues to send stored bytes to the bucket after a crash.
    private func resumeUploading(_ record: UploadRecord) {
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

/// The uploads that requests use, each with one ``Upload`` that owns its state (§11.4).
final class ActiveUploads: Sendable {
    /// The result of loading a record: `nil` when there is none, or an error.
    typealias Loaded = Result<Upload?, StorageError>

    private struct Entry: Sendable {
        let upload: Task<Loaded, Never>
        var users: Int
    }

    private let entries = Locked<[BlobName: Entry]>([:])

    /// Registers one more user of an upload; the first one loads it.
    func enter(_ name: BlobName, load: () -> Task<Loaded, Never>) -> Task<Loaded, Never> {
        entries.withLock { entries in
            var entry = entries[name] ?? Entry(upload: load(), users: 0)
            entry.users += 1
            entries[name] = entry
            return entry.upload
        }
    }

    /// Registers one more user of an upload in use, until ``leave(_:)``.
    func hold(_ name: BlobName) { entries.withLock { $0[name]?.users += 1 } }

    /// Removes a user; the last one releases the `Upload`.
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

    var uploads: [Task<Loaded, Never>] { entries.withLock { $0.values.map(\.upload) } }
}

// Space and quota for bytes that arrive without an upload.
extension Uploads {
    /// Requires space on the disk beyond reservations and headroom. Waits for the disk.
    ///
    /// - Throws: ``UploadError/insufficientStorage``.
    public func requireDiskSpace() throws(UploadError) {
        do throws(DiskError) {
            try engine.requireDiskSpace()
        } catch {
            throw UploadError(error)
        }
    }

    /// The space on the volume of the data folder. Waits for the disk, on a queue of its own.
    public func storageSpace() async throws(DiskError) -> StorageSpace {
        try await WorkQueue("parley.uploads.space").run { [engine] () throws(DiskError) in
            try engine.storageSpace()
        }
    }

    /// The bytes that all unfinished uploads of an application may still become.
    ///
    /// - Throws: ``UploadError/unavailable``.
    public func reservedBytes(of application: String) async throws(UploadError) -> Int64 {
        do throws(StorageError) {
            return try await engine.records.claimed(by: application)
        } catch {
            throw UploadError(error)
        }
    }

    /// The most bytes of content of an application; `nil` for no limit.
    public var applicationQuota: Int64? { engine.settings.applicationQuota }

    /// Requires that an application may store that many bytes besides its content and its uploads.
    ///
    /// - Throws: ``UploadError/quotaExceeded(_:)``, ``UploadError/unavailable``.
    public func requireQuota(of application: String, for bytes: Int64) async throws(UploadError) {
        try await engine.requireQuota(of: application, besidesUploads: bytes)
    }
}

/// The space on the volume of a data folder, in bytes.
public struct StorageSpace: Sendable, Equatable {
    /// The size of the volume.
    public let total: Int64
    /// The free bytes that this process can use.
    public let available: Int64
    /// The free bytes that uploads leave.
    public let headroom: Int64
    /// The bytes that unfinished uploads of this process still need.
    public let reserved: Int64
}
