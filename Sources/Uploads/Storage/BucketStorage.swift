internal import Blobs
internal import HTTPClient
internal import ObjectStore
internal import SystemSupport

/// Content in a bucket; arriving bytes are staged on the local disk and sent part by part (§10.5).
///
/// Content that was complete on the local disk before the bucket was configured stays there and is read from there.
struct BucketStorage: ContentStorage {
    let store: ObjectStore
    private let redirects: Bool
    let disk: DiskStorage
    let journals: JournalFolder
    let clock: UploadClock
    /// The maximum length of content, in bytes.
    let longest: Int64
    /// Called with failures of the bucket, for the log.
    let onFault: @Sendable (any Error) -> Void
    private let uploaders = Locked<[BlobName: WeakUploader]>([:])
    private let executors = (0..<4).map { number in WorkExecutor("parley.bucket.\(number)") }

    private struct WeakUploader {
        weak var uploader: PartUploader?
    }

    /// How long finishing is retried while the bucket fails, in milliseconds (§10.6).
    private static let retryDuration: Int64 = 3_600_000

    init(
        _ bucket: ContentBucket, blobs: BlobFolder, journals: JournalFolder, clock: UploadClock,
        longest: Int64
    ) {
        store = bucket.store
        redirects = bucket.redirects
        onFault = bucket.onFault
        disk = DiskStorage(blobs: blobs)
        self.journals = journals
        self.clock = clock
        self.longest = longest
    }

    func key(_ name: BlobName) -> ObjectKey { ContentBucket.key(of: name) }

    // MARK: Content

    func publish(_ content: StagedContent) async throws(StorageError) {
        // It was published before the bucket was configured.
        if try await disk.isPublishedHere(content.name) { return }
        let uploader = uploader(for: content.name)
        try await retrying { () throws(StorageError) in try await uploader.finish(content) }
    }

    /// Retries while the bucket fails, until the task is cancelled or an hour has passed (§10.6).
    func retrying(
        _ work: () async throws(StorageError) -> Void
    ) async throws(StorageError) {
        let deadline = clock.now() + BucketStorage.retryDuration
        var failures = 0
        while true {
            do throws(StorageError) {
                return try await work()
            } catch {
                guard case .unavailable(let fault) = error else { throw error }
                onFault(fault)
                guard clock.now() < deadline else { throw .lost }
                failures += 1
                await clock.sleep(BucketStorage.pause(after: failures))
                if Task.isCancelled { throw .fenced }
            }
        }
    }

    func open(_ name: BlobName) async throws(StorageError) -> OpenContent {
        do throws(StorageError) {
            return try await disk.open(name)
        } catch {
            guard error == .missing else { throw error }
            return .object(StoredObject(store: store, key: key(name), redirects: redirects))
        }
    }

    func erase(_ name: BlobName) async throws(StorageError) -> Int64 {
        let freed = try await disk.erase(name)
        do throws(ObjectStoreError) {
            guard let summary = try await store.head(key(name)) else { return freed }
            try await store.delete(key(name))
            return freed + summary.size
        } catch {
            onFault(error)
            throw StorageError(error)
        }
    }

    // MARK: Arriving bytes

    func uploader(of name: BlobName) -> PartUploader? { uploader(for: name) }

    /// Returns the existing uploader of a content, or creates it.
    func uploader(for name: BlobName) -> PartUploader {
        uploaders.withLock { uploaders in
            if let uploader = uploaders[name]?.uploader { return uploader }
            let hash = name.text.utf8.reduce(0) { sum, byte in sum &* 31 &+ Int(byte) }
            let uploader = PartUploader(
                name, self, on: executors[Int(hash.magnitude % UInt(executors.count))])
            uploaders[name] = WeakUploader(uploader: uploader)
            return uploader
        }
    }

    /// Removes the entry of a released uploader, unless a new one has taken its place.
    func dismiss(_ name: BlobName) {
        uploaders.withLock { uploaders in
            if uploaders[name]?.uploader == nil { uploaders[name] = nil }
        }
    }

    /// The bytes that are staged at most: two waiting parts, one being filled, and one as reserve.
    func mostStaged(of length: Int64?) -> Int64 { 4 * PartSize.of(length, atMost: longest) }

    func isFullyStaged(_ name: BlobName) async throws(StorageError) -> Bool {
        let uploader = uploader(for: name)
        guard try await uploader.known() == nil else { return false }
        if try await disk.isStaged(name) { return true }
        return try await disk.isPublishedHere(name)
    }

    func isPublishedHere(_ name: BlobName) async throws(StorageError) -> Bool {
        try await disk.isPublishedHere(name)
    }

    func cancelParts(of name: BlobName) {
        let uploader = uploader(for: name)
        Task {
            do throws(StorageError) {
                try await uploader.cancel()
            } catch {
                onFault(error)
            }
        }
    }

    /// The bytes of a part, read while they are sent.
    func body(of name: BlobName, _ range: Range<Int64>) throws(StorageError) -> ClientBody {
        if range.isEmpty { return .bytes([]) }
        do throws(DiskError) {
            return .bytes(range, read: try disk.blobs.openStaged(name).read)
        } catch {
            throw error.kind == .missing ? .lost : .disk(error)
        }
    }

    /// The wait before the next attempt: one second, doubled each time, at most a minute, and up to half of it less
    /// at random, so that retries do not coincide.
    static func pause(after failures: Int) -> Int64 {
        let whole: Int64 = min(60_000, 1000 << min(Int64(failures) - 1, 6))
        return whole - Int64.random(in: 0...whole / 2)
    }
}

extension BucketStorage {
    func publish(_ archive: ArchiveFile, _ content: StagedContent) async throws(StorageError) {
        try await store(archive.name, as: archive.attempt, type: content.mediaType)
        try discard(archive.name)
    }

    func publishStaged(
        _ staged: BlobName, as content: StagedContent
    ) async throws(StorageError) -> Bool {
        // It was published before the bucket was configured.
        if try await disk.isPublishedHere(content.name) {
            return try await disk.publishStaged(staged, as: content)
        }
        let known: [UInt8]?
        do throws(ObjectStoreError) {
            known = try await ContentBucket(store).digest(of: content.name)
        } catch {
            throw StorageError(error)
        }
        if let known {
            guard known == content.sha256 else { return false }
        } else {
            try await store(staged, as: content.name, type: content.mediaType)
        }
        try discard(staged)
        return true
    }

    private func store(
        _ staged: BlobName, as name: BlobName, type: String
    ) async throws(StorageError) {
        let file: BlobFile
        do throws(DiskError) {
            file = try disk.blobs.openStaged(staged)
        } catch {
            throw .disk(error)
        }
        do throws(ObjectStoreError) {
            try await ContentBucket(store).store(file, as: name, type: type)
        } catch {
            throw StorageError(error)
        }
    }

    private func discard(_ staged: BlobName) throws(StorageError) {
        do throws(DiskError) {
            try disk.blobs.discard(staged)
        } catch {
            throw .disk(error)
        }
    }
}

extension BucketStorage {
    /// Aborts multipart uploads that no upload needs any more (§11.8).
    func tidy(isStaged: @Sendable (BlobName) -> Bool) async {
        do {
            try await cancelAbandoned(isStaged)
            try await abortUnknown()
        } catch {
            // The next run retries.
            onFault(error)
        }
    }

    /// Ends uploads whose journal exists although they have ended, because the bucket could not be reached.
    private func cancelAbandoned(_ isStaged: @Sendable (BlobName) -> Bool) async throws {
        let journals = journals
        let entries = try await WorkQueue("parley.bucket.tidy").run { () throws(DiskError) in
            try journals.entries()
        }
        for entry in entries {
            guard let name = BlobName(entry.name), !isStaged(name),
                clock.isOrphaned(since: entry.modifiedAtMilliseconds)
            else { continue }
            try await uploader(for: name).cancel()
        }
    }

    /// Aborts multipart uploads without a journal, which a crash left between the two steps.
    private func abortUnknown() async throws {
        for try await open in store.openMultipartUploads() {
            guard let name = ContentBucket.name(of: open.key), let initiated = open.initiated,
                clock.isOrphaned(since: initiated)
            else { continue }
            let known = try await uploader(for: name).known()?.upload
            if known != open.upload { try await store.abort(open.key, upload: open.upload) }
        }
    }
}
