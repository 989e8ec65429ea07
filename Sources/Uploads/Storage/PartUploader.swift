internal import Blobs
internal import ObjectStore
internal import SystemSupport

/// Sends the bytes of one upload to the bucket while more arrive (§10.5, `local-tail`).
///
/// Sends only durable bytes, which never change. A part is stored, its tag is made durable in the journal, and then
/// its space in the staged file is released; in this order a crash at any instant loses no byte. The file keeps its
/// size, so the offset is unaffected.
///
/// There is one uploader per content at a time; it waits for the disk on its own thread.
actor PartUploader {
    private let name: BlobName
    private let bucket: BucketStorage
    private let executor: WorkExecutor

    /// The journal, once it was read; see ``known()``.
    private var journal: JournalFile?
    private var moved: JournaledParts?
    private var isRead = false

    /// The number of leading bytes that may be sent.
    private var durable: Int64 = 0
    /// The length of the content; `nil` while unknown.
    private var length: Int64?
    private var mediaType = ""

    private var running: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    /// Why the last part could not be sent.
    private var fault: StorageError?
    /// Whether a request waits for the end; a failure is then reported instead of retried.
    private var isFinishing = false
    private var isCancelled = false
    private var waiting = WaitingList()

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as this actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    init(_ name: BlobName, _ bucket: BucketStorage, on executor: WorkExecutor) {
        self.name = name
        self.bucket = bucket
        self.executor = executor
    }

    deinit { bucket.dismiss(name) }

    /// Whether acknowledged bytes were lost, because the bucket no longer has the multipart upload.
    var isLost: Bool { fault == .lost }

    /// Records that the bytes up to an offset are durable, and sends complete parts.
    func advance(to offset: Int64, length: Int64?, mediaType: String) {
        durable = max(durable, offset)
        self.length = length
        self.mediaType = mediaType
        start()
    }

    /// Waits while more than two complete parts wait to be sent (§10.5).
    ///
    /// - Parameter written: The position of the next byte.
    /// - Returns: `false` when the task was cancelled first.
    func waitForSpace(for written: Int64) async -> Bool {
        while !hasSpace(for: written) {
            let number = waiting.number()
            let isWoken = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in waiting.add(number, continuation) }
            } onCancel: {
                Task { await self.stopWaiting(number) }
            }
            guard isWoken else { return false }
        }
        return true
    }

    private func stopWaiting(_ number: Int) { waiting.cancel(number) }

    /// Whether a byte at this position may be staged.
    func hasSpace(for written: Int64) -> Bool {
        // Waiting would not restore lost bytes; the next request reports the loss.
        if isLost || isCancelled { return true }
        let size = moved?.partSize ?? partSize
        return written < (moved?.end ?? 0) + 3 * size
    }

    private var partSize: Int64 { PartSize.of(length, atMost: bucket.longest) }

    /// The parts in the bucket according to the journal; `nil` when there are none.
    @discardableResult
    func known() throws(StorageError) -> JournaledParts? {
        if isRead { return moved }
        do throws(DiskError) {
            journal = try bucket.journals.open(name)
            if let journal, !journal.entries.isEmpty {
                guard let parts = JournaledParts(journal.entries) else {
                    throw DiskError(kind: .damaged, operation: "reading a journal")
                }
                moved = parts
                // A crash may have come between the last entry and this step.
                if parts.end > 0 { try bucket.disk.blobs.releaseSpace(of: name, upTo: parts.end) }
            }
            isRead = true
            return moved
        } catch {
            throw .disk(error)
        }
    }

    // MARK: Sending parts

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
        // Short content is stored with a single PUT when it is complete.
        if known == nil, let length, length <= size { return nil }
        let start = known?.end ?? 0
        return start + size <= durable ? start..<start + size : nil
    }

    /// Stores a part, records it durably and releases its space.
    private func move(_ range: Range<Int64>) async throws(StorageError) {
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

    /// The multipart upload, begun when there is none yet.
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
            // A crash left the journal without an entry.
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

    // MARK: Finishing

    /// Sends every remaining complete part.
    private func moveWholeParts() async throws(StorageError) {
        isFinishing = true
        pause?.cancel()
        if running == nil { start() }
        await running?.value
        if let fault { throw fault }
    }

    /// Deletes the journal: the object holds everything, or nothing is kept.
    func closeJournal() throws(StorageError) {
        do throws(DiskError) {
            try bucket.journals.delete(name)
        } catch {
            throw .disk(error)
        }
        (journal, moved, isRead) = (nil, nil, true)
    }

    /// Ends a cancelled upload: aborts the multipart upload, then deletes the journal.
    ///
    /// The sweeper finds the journal and repeats whatever fails now.
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
    /// Makes the object and removes the staged bytes (§10.6).
    ///
    /// May be repeated after a crash at any instant: either the object exists with its full size, or the staged
    /// file and the journal do.
    ///
    /// - Throws: ``StorageError/lost`` when neither is the case.
    func finish(_ content: StagedContent) async throws(StorageError) {
        (durable, length, mediaType) = (content.size, content.size, content.mediaType)
        // Empty content has no staged file; storing it again is harmless.
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

    /// A crash came after everything was done, or between the last two steps.
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
        // After a crash the last part may have been sent already.
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
            // Only the object shows whether the response or the parts were lost.
            case .missingUpload: break
            case .invalidParts, .partTooSmall: throw .lost
            default: throw StorageError(error)
            }
        }
        try await requireObject(content)
    }

    /// Requires the object with its full size; nothing else proves that it exists (§10.3).
    private func requireObject(_ content: StagedContent) async throws(StorageError) {
        let summary: ObjectSummary?
        do throws(ObjectStoreError) {
            summary = try await bucket.store.head(bucket.key(name))
        } catch {
            throw StorageError(error)
        }
        guard summary?.size == content.size else { throw .lost }
    }

    /// The file is deleted first: without a journal its holes would look like bytes.
    private func clear() throws(StorageError) {
        do throws(DiskError) {
            try bucket.disk.blobs.discard(name)
        } catch {
            throw .disk(error)
        }
        try closeJournal()
    }
}
