internal import Blobs
internal import HTTP
internal import SystemSupport

/// One upload while requests use it; serializes every access to its state (§11.4).
///
/// Between requests an upload is a record in storage and takes no memory. The record changes only while a
/// request holds the turn. Other requests see the committed record at any time.
actor Upload {
    /// The name of the record.
    nonisolated let name: BlobName
    nonisolated let engine: UploadEngine
    let active: ActiveUploads
    /// The queue for disk access.
    nonisolated let queue: WorkQueue
    let handle: any RecordHandle
    /// The record as it is stored; every number in it is durable.
    private(set) var record: UploadRecord

    // The state of each of these is private to its file, which has the functions that change it.
    var turn = WriterTurn()
    var commits = BodyCommits()
    var parts = BucketParts()
    var sharing = RecordSharing()
    var finishing = UploadFinishing()

    init(
        _ loaded: LoadedRecord, _ engine: UploadEngine, _ active: ActiveUploads
    ) {
        name = loaded.name
        self.engine = engine
        self.active = active
        record = loaded.record
        handle = loaded.handle
        queue = engine.queues[name]
    }

    /// The bytes of the upload.
    var staging: UploadStaging {
        // The name was checked when the upload was created; a record that names no blob finds no file.
        UploadStaging(
            engine: engine, name: name, blob: BlobName(record.contentID) ?? name, queue: queue)
    }

    // MARK: Status

    /// The state after every byte that a running writer has received was committed; the writer continues (§3.8).
    func receivedStatus() async -> UploadRecord {
        if record.state.isOpen { await commitReceived() }
        return status
    }

    /// The committed state; a running writer continues.
    var status: UploadRecord {
        var status = record
        if isExpired { status.state = .expired }
        return status
    }

    /// The committed state after a running writer has stopped: where the next request may continue (§6.4).
    func settledStatus() async throws(UploadError) -> UploadRecord {
        if record.state.isOpen {
            try await takeTurn()
            leaveTurn()
        }
        return status
    }

    /// Whether the upload has expired and no request writes to it.
    var isExpired: Bool {
        record.mayExpire && !turn.isTaken && record.expiresAt <= engine.clock.now()
    }

    // MARK: The record

    /// Adds what a request declares to the record; durable with the first commit.
    func amend(for append: AppendRequest) throws(UploadError) { try record.amend(for: append) }

    /// Undoes what a request has added to the record without committing it.
    func restore(_ before: UploadRecord) { record = before }

    /// Continues with the record that another process has stored.
    func adopt(_ current: UploadRecord) { record = current }

    /// Opens the staged file at the length that the record states.
    func openFile(for append: AppendRequest) async throws(UploadError) -> StagedFile {
        guard let file = try await staging.open(record, for: append) else {
            await fail(.storageLost)
            throw .gone
        }
        if !isShared { try await startUploader() }
        return file
    }

    /// Makes received bytes durable and only then visible (§11.1); the order never changes.
    ///
    /// - Returns: What failed, or `nil`. After a failure the visible state is as before, and the open file must not
    ///   be trusted any more.
    func commit(
        _ transfer: TransferProgress, _ file: StagedFile?,
        _ edit: (inout UploadRecord) -> Void = { _ in }
    ) async -> StorageError? {
        var next = record
        next.advance(to: transfer, at: engine.clock.now(), engine.settings)
        let hasGrown = next.offset > record.offset
        edit(&next)
        do throws(StorageError) {
            if hasGrown {
                next.held = try await staging.store(file, for: next, version: handle.version)
            }
        } catch {
            return error
        }
        return await write(next, after: hasGrown ? file : nil)
    }

    /// Replaces the record, durably, after the bytes that it counts.
    func write(_ next: UploadRecord, after file: StagedFile? = nil) async -> StorageError? {
        let began = ContinuousClock.now
        do throws(StorageError) {
            try await handle.replace(with: next, after: file)
        } catch {
            if error == .fenced {
                markFenced()
                // No record names the parts that were stored for it.
                await staging.deleteUnused(next.held, after: record.held)
            }
            return error
        }
        let last = record.held
        let hasGrown = next.offset > record.offset
        if hasGrown {
            engine.onCommit(UploadProtocol.current, ContinuousClock.now - began)
        }
        engine.statistics.withLock { [record] statistics in statistics.count(record, next) }
        record = next
        engine.note(name, next)
        if hasGrown { await advanceUploader() }
        await staging.deleteUnused(last, after: next.held)
        if next.state.isOpen { turn.committed(next.offset) }
        return nil
    }

    // MARK: Ending

    /// Cancels the upload for its client (§5.10).
    func cancel() async throws(UploadError) {
        try await takeTurn()
        defer { leaveTurn() }
        if record.state == .finalizing {
            guard await finish() else { throw .stillFinalizing }
        }
        if record.state == .complete { try await takeFromOtherProcesses() }
        if record.state == .complete && !record.isKeptPart {
            do {
                guard try await engine.finisher.withdraw(record.contentID) else {
                    throw UploadError.inUse
                }
            } catch let error as UploadError {
                throw error
            } catch {
                throw .backend
            }
        } else if !record.mayExpire || record.expiresAt <= engine.clock.now() {
            throw .gone
        }
        if let error = await terminate(as: .cancelled) { throw UploadError(error) }
    }

    /// Ends an upload that cannot become content any more.
    func fail(_ reason: FailureReason) async {
        record.failure = reason
        // If this is not durable, recovery finds the same reason again.
        _ = await terminate(as: .failed)
    }

    /// Ends an expired upload; `false` when a request uses it.
    func expire() async -> Bool {
        guard isExpired else { return false }
        takeFreeTurn()
        defer { leaveTurn() }
        guard (try? await takeFromOtherProcesses()) != nil, record.mayExpire,
            record.expiresAt <= engine.clock.now()
        else { return false }
        return await terminate(as: .expired) == nil
    }

    /// Deletes the bytes, then writes a small record of how the upload ended.
    ///
    /// In this order a crash in between leaves an upload without bytes, which recovery marks as failed; in the other
    /// order it would leave bytes without an upload.
    private func terminate(as state: UploadState) async -> StorageError? {
        do throws(StorageError) {
            try await staging.discard(isPublished: !record.state.isOpen)
        } catch {
            return error
        }
        let (multipart, blob) = (record.held?.upload, staging.blob)
        var next = record
        next.end(as: state, at: engine.clock.now(), engine.settings)
        if let error = await write(next) { return error }
        // Only after the record was replaced: a process that was overtaken must not abort what another one continues.
        if let multipart { await engine.shared?.abort(multipart, of: blob) }
        return nil
    }
}
