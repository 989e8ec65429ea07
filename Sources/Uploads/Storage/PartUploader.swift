internal import Blobs
internal import ObjectStore
internal import SystemSupport

/// Moves the bytes of one upload into the bucket while more arrive (§10.5, `local-tail`).
///
/// Only bytes that are durable and that somebody may have been told of are moved: they never change.
/// In this order, so that a crash at any instant leaves each of them here or there: the part is stored,
/// its tag is durable in the journal, its room in the staged file is given back. The file keeps its
/// size, so the offset is still what it always was.
///
/// One for each content at a time; waits for the disk on its own thread.
actor PartUploader {
    let name: BlobName
    let bucket: BucketStorage
    private let executor: WorkExecutor

    /// The journal as far as it was read; see ``known()``.
    private var journal: JournalFile?
    private(set) var moved: JournaledParts?
    private var isRead = false

    /// How many leading bytes may be moved.
    var durable: Int64 = 0
    /// Of the content, once it is known.
    var length: Int64?
    var mediaType = ""

    private var running: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    /// Why the last part could not be moved.
    private(set) var fault: StorageError?
    /// Somebody waits for the end: a part that cannot be moved is told to him.
    var isFinishing = false
    private var isCancelled = false
    private var waiting = WaitingList()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // It lives as long as this actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    init(_ name: BlobName, _ bucket: BucketStorage, on executor: WorkExecutor) {
        self.name = name
        self.bucket = bucket
        self.executor = executor
    }

    deinit { bucket.dismiss(name) }

    /// Whether bytes were lost that others had been told of: the store has forgotten the upload.
    var isLost: Bool { fault == .lost }

    /// Hears that so many leading bytes are durable for good, and moves what makes whole parts.
    func advance(to offset: Int64, length: Int64?, mediaType: String) {
        durable = max(durable, offset)
        self.length = length
        self.mediaType = mediaType
        start()
    }

    /// Waits while more than two whole parts wait to be moved (§10.5).
    ///
    /// - Parameter written: Where the next byte goes.
    /// - Returns: `false` when the task was cancelled first.
    func waitForSpace(for written: Int64) async -> Bool {
        while !hasSpace(for: written) {
            let number = waiting.number()
            let hasCome = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in waiting.add(number, continuation) }
            } onCancel: {
                Task { await self.stopWaiting(number) }
            }
            guard hasCome else { return false }
        }
        return true
    }

    private func stopWaiting(_ number: Int) { waiting.cancel(number) }

    /// Whether there is room for a byte at a place.
    func hasSpace(for written: Int64) -> Bool {
        // What is lost is told by the next request; waiting would not bring it back.
        if isLost || isCancelled { return true }
        let size = moved?.partSize ?? partSize
        return written < (moved?.end ?? 0) + 3 * size
    }

    private var partSize: Int64 { PartSize.of(length, atMost: bucket.longest) }

    /// What of it lies in the bucket, as the journal says; `nil` while nothing does.
    @discardableResult
    func known() throws(StorageError) -> JournaledParts? {
        if isRead { return moved }
        do throws(DiskError) {
            journal = try bucket.journals.open(name)
            if let journal, !journal.entries.isEmpty {
                guard let parts = JournaledParts(journal.entries) else {
                    throw DiskError(kind: .damaged, operation: "read journal")
                }
                moved = parts
                // A crash may have come between the last entry and this.
                if parts.end > 0 { try bucket.disk.blobs.releaseSpace(of: name, upTo: parts.end) }
            }
            isRead = true
            return moved
        } catch {
            throw .disk(error)
        }
    }

    // MARK: Moving

    private func start() {
        guard running == nil, !isCancelled, !isLost else { return }
        running = Task { await move() }
    }

    private func move() async {
        defer {
            running = nil
            waiting.wakeAll()
        }
        var failures = 0
        while !isCancelled {
            do throws(StorageError) {
                guard let range = try nextWholePart() else {
                    fault = nil
                    return
                }
                try await move(range)
                (failures, fault) = (0, nil)
                waiting.wakeAll()
            } catch {
                if isCancelled { return }
                fault = error
                bucket.onFault(error)
                if error == .lost || isFinishing { return }
                failures += 1
                await pause(after: failures)
            }
        }
    }

    private func pause(after failures: Int) async {
        let (clock, wait) = (bucket.clock, BucketStorage.pause(after: failures))
        let pause = Task { await clock.sleep(wait) }
        self.pause = pause
        await pause.value
        self.pause = nil
    }

    private func nextWholePart() throws(StorageError) -> Range<Int64>? {
        let known = try known()
        let size = known?.partSize ?? partSize
        // Short content is stored at once, when it is whole.
        if known == nil, let length, length <= size { return nil }
        let start = known?.end ?? 0
        return start + size <= durable ? start..<start + size : nil
    }

    /// Stores a part and remembers it durably; its room is free then.
    func move(_ range: Range<Int64>) async throws(StorageError) {
        let parts = try await begun()
        let body = try bucket.body(of: name, range)
        let part: ObjectPart
        do throws(ObjectStoreError) {
            part = try await bucket.store.putPart(
                bucket.key(name), upload: parts.upload, number: parts.tags.count + 1, body)
        } catch {
            throw StorageError(error)
        }
        do throws(DiskError) {
            try journal?.append(JournaledParts.entry(part.tag))
            moved?.append(part.tag)
            try bucket.disk.blobs.releaseSpace(of: name, upTo: range.upperBound)
        } catch {
            throw .disk(error)
        }
    }

    /// The upload in the store, begun when there is none yet.
    private func begun() async throws(StorageError) -> JournaledParts {
        if let moved = try known() { return moved }
        let upload: String
        do throws(ObjectStoreError) {
            upload = try await bucket.store.createMultipartUpload(bucket.key(name), type: mediaType)
        } catch {
            throw StorageError(error)
        }
        let parts = JournaledParts(upload: upload, partSize: partSize)
        do throws(DiskError) {
            // One without an entry is of a crash.
            if let journal {
                try journal.append(parts.head)
            } else {
                journal = try bucket.journals.begin(name, parts.head)
            }
        } catch {
            throw .disk(error)
        }
        moved = parts
        return parts
    }

    // MARK: The end

    /// Moves every whole part that is left.
    func moveWholeParts() async throws(StorageError) {
        isFinishing = true
        pause?.cancel()
        if running == nil { start() }
        await running?.value
        if let fault { throw fault }
    }

    /// Forgets the journal: everything is in the object, or nowhere.
    func closeJournal() throws(StorageError) {
        do throws(DiskError) {
            try bucket.journals.delete(name)
        } catch {
            throw .disk(error)
        }
        (journal, moved, isRead) = (nil, nil, true)
    }

    /// Ends it for an upload nobody wants: parts go, and the journal behind them.
    ///
    /// What cannot be done now is done by the sweeper, which finds the journal.
    func cancel() async throws(StorageError) {
        isCancelled = true
        pause?.cancel()
        running?.cancel()
        waiting.wakeAll()
        await running?.value
        if let parts = try known() {
            do throws(ObjectStoreError) {
                try await bucket.store.abort(bucket.key(name), upload: parts.upload)
            } catch {
                throw StorageError(error)
            }
        }
        try closeJournal()
    }
}

extension PartUploader {
    /// Makes the object, and takes away what is staged (§10.6).
    ///
    /// May be repeated after a crash at any instant: the object is there with its whole size, or the
    /// staged file and the journal are.
    ///
    /// - Throws: ``StorageError/lost`` when neither is so.
    func finish(_ content: StagedContent) async throws(StorageError) {
        (durable, length, mediaType) = (content.size, content.size, content.mediaType)
        // Nothing is ever staged of an empty content; storing it again is harmless.
        if content.size > 0, try !isStaged() { return try await settle(content) }
        try await moveWholeParts()
        if try known() == nil, content.size <= PartSize.of(content.size, atMost: bucket.longest) {
            try await storeAtOnce(content)
        } else {
            try await complete(content)
        }
        try clear()
    }

    private func isStaged() throws(StorageError) -> Bool {
        do throws(DiskError) {
            return try bucket.disk.blobs.stagedSize(name) != nil
        } catch {
            throw .disk(error)
        }
    }

    /// A crash came after everything was done, or between the two last steps.
    private func settle(_ content: StagedContent) async throws(StorageError) {
        if let parts = try known() {
            try await complete(parts, content)
        } else {
            try await requireObject(content)
        }
        try clear()
    }

    private func storeAtOnce(_ content: StagedContent) async throws(StorageError) {
        let body = try bucket.body(of: name, 0..<content.size)
        do throws(ObjectStoreError) {
            _ = try await bucket.store.put(
                bucket.key(name), body, type: content.mediaType, sha256: content.sha256)
        } catch {
            throw StorageError(error)
        }
    }

    private func complete(_ content: StagedContent) async throws(StorageError) {
        let end = try known()?.end ?? 0
        // The last part was moved before a crash when there are as many as there can be.
        if end < content.size { try await move(end..<content.size) }
        guard let parts = try known() else { throw .lost }
        try await complete(parts, content)
    }

    private func complete(
        _ parts: JournaledParts, _ content: StagedContent
    ) async throws(StorageError) {
        do throws(ObjectStoreError) {
            try await bucket.store.complete(
                bucket.key(name), upload: parts.upload, parts.parts(of: content.size))
        } catch {
            switch error.kind {
            // Nothing but the object itself tells whether an answer was lost or the parts were.
            case .missingUpload: break
            case .invalidParts, .partTooSmall: throw .lost
            default: throw StorageError(error)
            }
        }
        try await requireObject(content)
    }

    /// Whether the object is there with every byte; nothing else is proof of it (§10.3).
    private func requireObject(_ content: StagedContent) async throws(StorageError) {
        let summary: ObjectSummary?
        do throws(ObjectStoreError) {
            summary = try await bucket.store.head(bucket.key(name))
        } catch {
            throw StorageError(error)
        }
        guard summary?.size == content.size else { throw .lost }
    }

    /// The file first: without a journal its holes would look like bytes.
    private func clear() throws(StorageError) {
        do throws(DiskError) {
            try bucket.disk.blobs.discard(name)
        } catch {
            throw .disk(error)
        }
        try closeJournal()
    }
}
