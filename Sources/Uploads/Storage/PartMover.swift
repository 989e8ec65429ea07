internal import Blobs
internal import Locking
internal import ObjectStore

/// Moves the bytes of one upload into the bucket while more arrive (§10.5, `local-tail`).
///
/// Only bytes that are durable and that somebody may have been told of are moved: they never change.
/// In this order, so that a crash at any instant leaves each of them here or there: the part is stored,
/// its tag is durable in the journal, its room in the staged file is given back. The file keeps its
/// size, so the offset is still what it always was.
///
/// One for each content at a time; waits for the disk on its own thread.
actor PartMover {
    let name: BlobName
    let bucket: BucketStorage
    private let executor: WorkExecutor

    /// The journal as far as it was read; see ``known()``.
    private var journal: JournalFile?
    private(set) var moved: MovedParts?
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
    private var isGivenUp = false
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
    func waitForRoom(for written: Int64) async -> Bool {
        while !hasRoom(for: written) {
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

    private func stopWaiting(_ number: Int) { waiting.giveUp(number) }

    /// Whether there is room for a byte at a place.
    func hasRoom(for written: Int64) -> Bool {
        // What is lost is told by the next request; waiting would not bring it back.
        if isLost || isGivenUp { return true }
        let size = moved?.partSize ?? partSize
        return written < (moved?.end ?? 0) + 3 * size
    }

    private var partSize: Int64 { PartSize.of(length, atMost: bucket.longest) }

    /// What of it lies in the bucket, as the journal says; `nil` while nothing does.
    @discardableResult
    func known() throws(StorageError) -> MovedParts? {
        if isRead { return moved }
        do throws(DiskError) {
            journal = try bucket.journals.open(name)
            if let journal, !journal.entries.isEmpty {
                guard let parts = MovedParts(journal.entries) else {
                    throw DiskError(kind: .damaged, operation: "read journal")
                }
                moved = parts
                // A crash may have come between the last entry and this.
                if parts.end > 0 { try bucket.disk.blobs.release(name, upTo: parts.end) }
            }
            isRead = true
            return moved
        } catch {
            throw .disk(error)
        }
    }

    // MARK: Moving

    private func start() {
        guard running == nil, !isGivenUp, !isLost else { return }
        running = Task { await move() }
    }

    private func move() async {
        defer {
            running = nil
            waiting.wakeAll()
        }
        var failures = 0
        while !isGivenUp {
            do throws(StorageError) {
                guard let range = try nextWholePart() else {
                    fault = nil
                    return
                }
                try await move(range)
                (failures, fault) = (0, nil)
                waiting.wakeAll()
            } catch {
                if isGivenUp { return }
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
            try journal?.append(MovedParts.entry(part.tag))
            moved?.append(part.tag)
            try bucket.disk.blobs.release(name, upTo: range.upperBound)
        } catch {
            throw .disk(error)
        }
    }

    /// The upload in the store, begun when there is none yet.
    private func begun() async throws(StorageError) -> MovedParts {
        if let moved = try known() { return moved }
        let upload: String
        do throws(ObjectStoreError) {
            upload = try await bucket.store.createMultipart(bucket.key(name), type: mediaType)
        } catch {
            throw StorageError(error)
        }
        let parts = MovedParts(upload: upload, partSize: partSize)
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
    func giveUp() async throws(StorageError) {
        isGivenUp = true
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
