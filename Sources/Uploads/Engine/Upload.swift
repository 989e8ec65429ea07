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
    private let active: ActiveUploads
    /// The queue for disk access.
    nonisolated let queue: WorkQueue
    private let handle: any RecordHandle
    /// The record as it is stored; every number in it is durable.
    private(set) var record: UploadRecord

    // MARK: State of the turn: one writer at a time

    private var isTaken = false
    /// The body that the holder of the turn receives.
    private var body: (any RequestBody)?
    /// Requests that wait for the turn.
    private var waiting = WaitingList()
    /// The number of turns that have finishWaiters.
    private var turns = 0
    /// Requests that wait for a turn to end without wanting one.
    private var turnObservers = WaitingList()
    /// From the offset at which the running writer began to the offset it has received up to.
    private(set) var receivedRange: ClosedRange<Int64>?
    private var observer: AppendRequest.Observer?
    private(set) var isStopping = false
    /// The writer was asked to stop.
    private var isInterrupted = false
    private var commits = CommitState()

    // MARK: State of parts on their way to a bucket

    /// `nil` on a local disk.
    private var uploader: PartUploader?
    private var spaceWait: Task<Bool, Never>?

    // MARK: State of an upload that other processes may continue

    /// Whether the record was just loaded, so that it need not be compared with the stored one.
    private var isFresh = true
    /// Another process has taken over; the next request needs a new `Upload`.
    private var isFenced = false

    // MARK: State of finishing: at most one task

    private var finalizing: Task<Void, Never>?
    private var finishWaiters = WaitingList()
    private var finishError: UploadError?

    /// The commits that run while a body still arrives (§4.1, step 8).
    private struct CommitState {
        /// Knows which bytes are written; `nil` where nothing may be committed before the end.
        var writer: BodyWriter?
        /// The file that is written.
        var file: StagedFile?
        /// The number of bytes of the body that were submitted to the writer.
        var submitted: Int64 = 0
        /// Requests that wait until more bytes were submitted.
        var waiting = WaitingList()
        /// The body has finishWaiters, and its last bytes are being committed.
        var isEnding = false
        /// The running commit.
        var running: Task<Void, Never>?
        /// Why a commit failed; the open file must not be trusted any more.
        var error: StorageError?
    }

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
        record.mayExpire && !isTaken && record.expiresAt <= engine.clock.now()
    }

    /// The name under which the bytes are staged and published.
    private var blob: BlobName {
        // Checked when the upload was created; a record that names no blob finds no file.
        BlobName(record.contentID) ?? name
    }

    // MARK: The turn

    /// Makes the caller the only writer. A running writer is asked to stop; it commits what it has received and ends.
    ///
    /// A second request usually comes from a client whose network changed, while its old connection looks alive
    /// for minutes. Therefore the newer request takes over at once.
    ///
    /// - Parameter isWriting: A body is about to be received, and other processes may ask for its offset.
    /// - Throws: ``UploadError/locked`` when the old writer does not stop in time.
    func takeTurn(
        _ body: (any RequestBody)? = nil, isWriting: Bool = false
    ) async throws(UploadError) {
        try await takeLocalTurn(body)
        guard record.mayExpire else { return }
        do throws(UploadError) {
            try await takeFromOtherProcesses(isWriting: isWriting)
        } catch {
            leaveTurn()
            throw error
        }
    }

    /// Takes the turn among the requests of this process only.
    private func takeLocalTurn(_ body: (any RequestBody)? = nil) async throws(UploadError) {
        if isTaken {
            interrupt()
            guard await waitForTurn() else { throw .locked }
            engine.count { traffic in traffic.takeovers += 1 }
        }
        isTaken = true
        isInterrupted = false
        self.body = body
        // A newer request is waiting already, or the server is stopping.
        if !waiting.isEmpty || isStopping { interrupt() }
    }

    /// Passes the turn to the request that has waited longest.
    func leaveTurn() {
        body = nil
        handle.endWriting()
        receivedRange = nil
        observer = nil
        commits.isEnding = false
        turns += 1
        turnObservers.wakeAll()
        // The turn stays taken when a request follows, so that no third one can take it in between.
        isTaken = waiting.wakeFirst()
    }

    /// Begins to receive a body, after all checks have passed.
    func startReceiving(observer: AppendRequest.Observer?) {
        receivedRange = record.offset...record.offset
        self.observer = observer
        observer?.began(record)
    }

    /// Records up to which offset the running writer has received bytes.
    func noteReceived(upTo offset: Int64) {
        if let start = receivedRange?.lowerBound { receivedRange = start...offset }
    }

    /// The offsets at which a request may begin: those a running writer has received, otherwise the stored offset;
    /// `nil` while a request has the turn that receives no body (§11.4).
    var possibleOffsets: ClosedRange<Int64>? {
        isTaken ? receivedRange : record.offset...record.offset
    }

    /// Adds what a request declares to the record; durable with the first commit.
    func amend(for append: AppendRequest) throws(UploadError) {
        record.declared = try record.declared.merging(append.declared)
        if record.mediaType == nil, let type = append.mediaType {
            record.mediaType = MediaType(untrusted: type).text
        }
        if record.length == nil { record.length = append.total }
    }

    /// Undoes what a request has added to the record without committing it.
    func restore(_ before: UploadRecord) { record = before }

    /// Waits until the turn of that number has ended.
    private func waitForEnd(ofTurn turn: Int) async {
        while turns == turn {
            _ = await withCheckedContinuation { continuation in
                turnObservers.add(turnObservers.number(), continuation)
            }
        }
    }

    /// Tells a running writer to stop because the server stops; it answers 503 (§11.10).
    func stop() {
        isStopping = true
        interrupt()
    }

    private func waitForTurn() async -> Bool {
        let number = waiting.number()
        let (clock, limit) = (engine.clock, engine.settings.takeoverWait)
        let timer = Task {
            await clock.sleep(limit)
            waiting.cancel(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            waiting.add(number, continuation)
        }
    }

    // MARK: Committing

    /// Opens the staged file at the length that the record states, checks that the bytes will fit, and preallocates
    /// their space where their number is known (§11.7).
    func openFile(for append: AppendRequest) async throws(UploadError) -> StagedFile {
        let (engine, name, blob, offset) = (engine, name, blob, record.offset)
        let length = record.length ?? append.total
        let hasBody = append.bodyLength != 0
        // Bytes that go to a bucket are released again, so no space is preallocated for them.
        let staysStaged = engine.mostStaged(record) == .max
        // A declared length was checked at creation; an unknown one grows with each request.
        if hasBody, record.length == nil {
            try await engine.requireQuota(
                of: record.owner.application,
                besidesUploads: append.total.map { total in total - offset } ?? append.bodyLength
                    ?? 1)
        }
        if engine.shared != nil { return try await openSharedFile(hasBody) }
        let file: StagedFile?
        do throws(DiskError) {
            file = try await queue.run { () throws(DiskError) in
                if hasBody { try engine.requireDiskSpace() }
                let file = try engine.blobs.stage(blob)
                let size = try file.size()
                if size < offset { return nil }
                // Uncommitted bytes of a crash, a failed sync or an undone request.
                if size > offset {
                    try file.truncate(to: offset)
                    engine.ledger.withLock { $0.place(name, upTo: offset, from: offset) }
                }
                if hasBody, staysStaged, let length, length - offset >= Upload.preallocationMinimum,
                    try file.reserve(offset..<length)
                {
                    engine.ledger.withLock { $0.place(name, upTo: length, from: offset) }
                }
                return file
            }
        } catch {
            throw UploadError(error)
        }
        if let file {
            try await startUploader()
            return file
        }
        await fail(.storageLost)
        throw .gone
    }

    /// Opens the staged file where it is a copy, which is downloaded again when it is missing.
    private func openSharedFile(_ hasBody: Bool) async throws(UploadError) -> StagedFile {
        guard let shared = engine.shared else { throw .backend }
        let engine = engine
        do throws(StorageError) {
            if hasBody {
                try await shared.work(on: blob) { _ throws(DiskError) in
                    try engine.requireDiskSpace()
                }
            }
            return try await shared.stage(record, of: blob)
        } catch {
            guard error == .lost else { throw UploadError(error) }
            await fail(.storageLost)
            throw .gone
        }
    }

    /// Below this many bytes preallocation is not worth a system call.
    private static let preallocationMinimum: Int64 = 8 << 20

    /// Makes received bytes durable and only then visible (§11.1); the order never changes.
    ///
    /// - Returns: What failed, or `nil`. After a failure the visible state is as before, and the open file must not
    ///   be trusted any more.
    func commit(
        _ transfer: TransferProgress, _ file: StagedFile?,
        _ edit: (inout UploadRecord) -> Void = { _ in }
    ) async -> StorageError? {
        var next = record
        let hasGrown = transfer.written > record.offset
        next.offset = transfer.written
        next.hashes = transfer.hashes
        if hasGrown {
            let (now, settings) = (engine.clock.now(), engine.settings)
            next.state = .receiving
            next.lastProgressAt = now
            next.expiresAt = min(now + settings.idleTTL, next.createdAt + settings.absoluteTTL)
        }
        edit(&next)
        do throws(StorageError) {
            if hasGrown { next.held = try await storeParts(of: file, for: next) }
        } catch {
            return error
        }
        return await write(next, after: hasGrown ? file : nil)
    }

    /// Replaces the record, durably, after the bytes that it counts.
    private func write(_ next: UploadRecord, after file: StagedFile? = nil) async -> StorageError? {
        let began = ContinuousClock.now
        do throws(StorageError) {
            try await handle.replace(with: next, after: file)
        } catch {
            if error == .fenced {
                markFenced()
                // No record names the parts that were stored for it.
                await deleteUnused(next.held, after: record.held)
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
        if hasGrown, let uploader { await advance(with: uploader) }
        await deleteUnused(last, after: next.held)
        if next.state.isOpen { observer?.committed(next.offset) }
        return nil
    }

    // MARK: Commits while a body arrives

    /// Allows commits while a body arrives.
    ///
    /// - Parameter writer: `nil` where nothing may be committed before the end of the body.
    func startCommits(of writer: BodyWriter?, _ file: StagedFile) {
        commits = writer.map { writer in CommitState(writer: writer, file: file) } ?? CommitState()
    }

    /// Why a commit failed while the body arrives.
    var commitError: StorageError? { commits.error }

    /// Starts to make the written bytes durable while the body continues to arrive; one commit at a time.
    ///
    /// The commit covers the bytes written before it began; later ones belong to the next commit, so the writer never
    /// waits. After a failed commit no other one starts: the kernel reports a failed sync only once, so the next
    /// commit would acknowledge lost bytes.
    private func beginCommit() {
        guard commits.error == nil, commits.running == nil, let transfer = commits.writer?.stored,
            transfer.written > record.offset
        else { return }
        let file = commits.file
        commits.running = Task {
            commits.error = await commit(transfer, file)
            commits.running = nil
            if commits.error == nil { commitIfDue() }
        }
    }

    /// Starts a commit when enough bytes are written.
    func commitIfDue() {
        guard let stored = commits.writer?.stored else { return }
        if stored.written - record.offset >= engine.settings.commitBytes { beginCommit() }
    }

    /// Starts to commit at regular intervals, also while the sender pauses.
    func startCommitTimer() -> Task<Void, Never> {
        let (clock, interval) = (engine.clock, engine.settings.commitInterval)
        return Task {
            while !Task.isCancelled {
                await clock.sleep(interval)
                if Task.isCancelled { return }
                await commitReceived()
                if Task.isCancelled { return }
                await checkOtherProcesses()
            }
        }
    }

    /// Records that bytes of the body were submitted to the writer.
    func noteSubmitted(_ count: Int) {
        commits.submitted += Int64(count)
        commits.waiting.wakeAll()
    }

    /// Makes all bytes durable that a running writer has received so far, including those in the buffer of its
    /// connection; the writer continues (ruling 33).
    ///
    /// When the request ends meanwhile, its last bytes are committed before this returns. The bytes of an atomic
    /// request are not visible before its end, so this does not wait for them.
    func commitReceived() async {
        let turn = turns
        guard let body, let writer = commits.writer else {
            if commits.isEnding {
                await waitForEnd(ofTurn: turn)
            } else if !isTaken {
                await commitInOtherProcess()
            }
            return
        }
        let received = await body.completePendingRead()
        while commits.writer === writer, commits.submitted < received {
            _ = await withCheckedContinuation { continuation in
                commits.waiting.add(commits.waiting.number(), continuation)
            }
        }
        if commits.writer === writer { await writer.finishWrites() }
        let written = writer.stored.written
        while commits.writer === writer, commits.error == nil, record.offset < written {
            beginCommit()
            await commits.running?.value
        }
        if commits.writer !== writer { await waitForEnd(ofTurn: turn) }
    }

    /// Waits for the running commit and lets no other one start.
    ///
    /// - Returns: Why a commit failed, or `nil`.
    func endCommits() async -> StorageError? {
        handle.endWriting()
        commits.isEnding = commits.writer != nil
        commits.writer = nil
        commits.file = nil
        commits.waiting.wakeAll()
        await commits.running?.value
        return commits.error
    }

    // MARK: Parts in a bucket (§10.5)

    /// Resumes sending stored bytes to the bucket, before more bytes arrive.
    ///
    /// - Throws: ``UploadError/gone`` when bytes in the bucket are lost; the upload has failed then.
    private func startUploader() async throws(UploadError) {
        // A partial upload of a concatenation stays on the disk until it is joined.
        guard !record.tus.isPartial, let uploader = engine.storage.uploader(of: blob) else {
            return
        }
        self.uploader = uploader
        do throws(StorageError) {
            try await uploader.known()
        } catch {
            throw UploadError(error)
        }
        if await uploader.isLost {
            await fail(.storageLost)
            throw .gone
        }
        await advance(with: uploader)
    }

    /// Tells the uploader how many bytes are durable.
    private func advance(with uploader: PartUploader) async {
        await uploader.advance(
            to: record.offset, length: record.length,
            mediaType: record.storedType)
    }

    /// Fills a buffer from the body, after waiting for staging space.
    func fill(
        _ buffer: inout BodyBuffer, from body: any RequestBody, behind written: Int64,
        of append: AppendRequest
    ) async -> BodyEnd? {
        // Uncommitted bytes of an atomic request cannot go to the bucket, so waiting would not free space.
        if let uploader, !append.isAtomic, !(await hasSpace(for: written, with: uploader)) {
            buffer.removeAll()
            return .broken(.stalled)
        }
        return await body.fill(&buffer)
    }

    /// Waits while the bucket is too far behind, at most as long as a body may pause. A newer request ends the wait;
    /// the next read of the body then fails.
    private func hasSpace(for written: Int64, with uploader: PartUploader) async -> Bool {
        if await uploader.hasSpace(for: written) || isInterrupted { return true }
        let wait = Task { await uploader.waitForSpace(for: written) }
        spaceWait = wait
        let (clock, limit) = (engine.clock, engine.settings.bodyIdleTimeout)
        let timer = Task {
            await clock.sleep(limit)
            // A cancelled timer must not cancel the wait.
            if !Task.isCancelled { wait.cancel() }
        }
        defer {
            timer.cancel()
            spaceWait = nil
        }
        return await wait.value || isInterrupted
    }

    /// Tells a running writer to stop.
    private func interrupt() {
        isInterrupted = true
        body?.interrupt()
        spaceWait?.cancel()
    }

    // MARK: Several processes (§10.5, §11.4)

    /// Whether another process may replace the record.
    private var isShared: Bool { engine.shared != nil }

    /// Makes sure that no other process writes. A process that does commits what it has received and stops; when it
    /// does not answer in time, this continues from its last commit.
    ///
    /// - Parameter isWriting: A body is about to be received, and other processes may ask for its offset.
    private func takeFromOtherProcesses(isWriting: Bool = false) async throws(UploadError) {
        guard isShared else { return }
        do throws(StorageError) {
            let stopped = try await handle.askWriter(to: .stop)
            if let stopped { record = stopped }
            // The other process may have received the last byte.
            guard stopped == nil || record.mayExpire else { return }
            let current = try await handle.take(isWriting: isWriting)
            if let current { record = current }
            if stopped != nil || current != nil {
                engine.count { traffic in traffic.takeovers += 1 }
            }
        } catch {
            throw UploadError(error)
        }
    }

    /// Whether the record is the stored one. When another process has replaced it, the remaining requests here are
    /// asked to stop.
    ///
    /// - Throws: ``UploadError/notFound`` when the record was deleted.
    func isCurrent() async throws(UploadError) -> Bool {
        guard isShared, !isFresh else {
            isFresh = false
            return !isFenced
        }
        do throws(StorageError) {
            guard let current = try await handle.change() else { return !isFenced }
            guard isTaken || finalizing != nil else {
                record = current
                return !isFenced
            }
            markFenced()
            return false
        } catch {
            throw error == .missing ? .notFound : UploadError(error)
        }
    }

    /// Records that another process has taken over: no change made here counts any more.
    private func markFenced() {
        isFenced = true
        interrupt()
        finalizing?.cancel()
    }

    /// Checks whether another process has taken over or requests a commit.
    private func checkOtherProcesses() async {
        guard isShared, !isFenced else { return }
        // When the registry cannot be reached, the next check asks again.
        if (try? await handle.change()) != nil { return markFenced() }
        if let request = handle.request { await answer(request) }
    }

    /// Makes the process that receives the body commit what it has received, and adopts its record.
    private func commitInOtherProcess() async {
        guard isShared, !isFenced else { return }
        // When it cannot be asked, its last commit counts.
        guard let current = try? await handle.askWriter(to: .commit), !isTaken else { return }
        record = current
    }

    /// Carries out the request of another process.
    func answer(_ request: UploadWriterRequest) async {
        switch request {
        case .commit: await commitReceived()
        case .stop:
            let turn = turns
            if isTaken {
                interrupt()
                await waitForEnd(ofTurn: turn)
            }
        }
        await handle.answer()
    }

    /// Stores staged bytes where other processes can read them, before the record counts them.
    private func storeParts(
        of file: StagedFile?, for next: UploadRecord
    ) async throws(StorageError) -> StoredParts? {
        guard let shared = engine.shared, let file else { return next.held }
        return try await shared.keep(file, for: next, of: blob, version: handle.version)
    }

    /// Deletes what the new record no longer names: objects in the bucket and staged bytes.
    private func deleteUnused(_ last: StoredParts?, after next: StoredParts?) async {
        guard let shared = engine.shared, let last, last != next else { return }
        let named = Set((next?.pieces ?? []).map(\.id))
        shared.drop(last.pieces.filter { piece in !named.contains(piece.id) }, of: blob)
        guard let base = next?.base, base > last.base else { return }
        let blob = blob
        // On failure the space is freed when the file is deleted.
        try? await shared.work(on: blob) { blobs throws(DiskError) in
            try blobs.releaseSpace(of: blob, upTo: base)
        }
    }

    /// Waits while three parts or more have arrived that the bucket does not hold yet (§10.5).
    func waitForParts(_ written: Int64, of append: AppendRequest) async {
        guard let shared = engine.shared, !append.isAtomic else { return }
        let size = record.held?.partSize ?? shared.begin(record.length).partSize
        while written - record.offset >= 3 * size, commits.error == nil, !isInterrupted {
            beginCommit()
            guard let running = commits.running else { return }
            await running.value
        }
    }

    /// Renews this process's claim to finish the upload until its task is cancelled.
    private func renewClaim() async {
        guard isShared else { return }
        while !Task.isCancelled {
            await engine.clock.sleep(SharedUploadRecords.renewalInterval)
            if Task.isCancelled { return }
            if await write(record) == .fenced { return markFenced() }
        }
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
        isTaken = true
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
        let (engine, blob) = (engine, blob)
        do throws(DiskError) {
            try await queue.run { () throws(DiskError) in try engine.blobs.discard(blob) }
        } catch {
            return .disk(error)
        }
        do throws(StorageError) {
            if !record.state.isOpen { _ = try await engine.storage.erase(blob) }
        } catch {
            return error
        }
        engine.storage.cancelParts(of: blob)
        var next = record
        next.state = state
        next.answer = nil
        next.expiresAt = engine.clock.now() + engine.settings.tombstoneTTL
        next.held = nil
        let upload = record.held?.upload
        if let error = await write(next) { return error }
        // Only after the record was replaced: a process that was overtaken must not abort what another one continues.
        if let upload { await engine.shared?.abort(upload, of: blob) }
        return nil
    }

    // MARK: Finishing

    /// The final response of an upload that accepts no more bytes, or why there is none.
    func endedAnswer() async throws(UploadError) -> StoredResponse {
        if record.state == .finalizing {
            guard await finish() else { throw .stillFinalizing }
            if let finishError { throw finishError }
        }
        guard record.state == .complete, let answer = record.answer else { throw .gone }
        return answer
    }

    /// Finishes the upload, or waits for the task that does; `false` when it takes too long.
    func finish() async -> Bool {
        if finalizing == nil {
            finishError = nil
            // The requests that wait may time out earlier; without this a second `Upload` could be created and
            // finish the same upload at the same time.
            active.hold(name)
            finalizing = Task {
                finishError = await finalize()
                finalizing = nil
                finishWaiters.wakeAll()
                active.leave(name)
            }
        }
        let number = finishWaiters.number()
        let (clock, limit) = (engine.clock, engine.settings.finalizeWait)
        let timer = Task {
            await clock.sleep(limit)
            finishWaiters.cancel(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            finishWaiters.add(number, continuation)
        }
    }

    /// Checks digests, publishes, calls the finisher and marks the record; every step may be repeated after a
    /// crash (§11.1).
    ///
    /// - Returns: The error for the waiting requests, or `nil`. After an error the upload has either failed, or is
    ///   still finalizing and retried by the next request.
    private func finalize() async -> UploadError? {
        do throws(StorageError) {
            if isShared, let current = try await handle.takeToFinish() { record = current }
        } catch {
            return error == .fenced ? .stillFinalizing : UploadError(error)
        }
        guard record.state == .finalizing, let length = record.length else { return nil }
        let beating = Task { await renewClaim() }
        let published = await UploadPublisher(
            engine: engine, record: record, blob: blob, queue: queue, version: handle.version
        ).run(length)
        beating.cancel()
        await beating.value
        do {
            let upload = try published.get()
            return await markComplete(upload.content, upload.hashes)
        } catch is ContentRefused {
            await fail(.refused)
            return .refused
        } catch let error as UploadError {
            switch error {
            case .contentMismatch: await fail(.digest)
            case .quotaExceeded: await fail(.quota)
            case .superseded: return .stillFinalizing
            default: break
            }
            return error
        } catch let error as StorageError {
            if error == .fenced { return .stillFinalizing }
            guard error.isFinal else { return UploadError(error) }
            await fail(.storageLost)
            return .gone
        } catch {
            return .backend
        }
    }

    private func markComplete(
        _ upload: FinishedUpload, _ hashes: RunningHashes
    ) async -> UploadError? {
        var next = record
        next.hashes = hashes
        next.state = .complete
        next.completedAt = upload.completedAtMilliseconds
        next.held = nil
        // A partial upload expires as if it were unfinished.
        if !record.tus.isPartial {
            next.expiresAt = upload.completedAtMilliseconds + engine.settings.tombstoneTTL
        }
        next.answer = FinalResponse.stored(upload)
        if let error = await write(next) {
            return error == .fenced ? .stillFinalizing : UploadError(error)
        }
        // The object holds everything; the sweeper removes what cannot be discarded now.
        if let shared = engine.shared {
            let blob = blob
            try? await shared.work(on: blob) { blobs throws(DiskError) in try blobs.discard(blob) }
        }
        return nil
    }

    /// Waits until no request writes and the upload is not being finished.
    func waitUntilIdle() async {
        // While the server stops no other request waits, so this gets the turn or the caller's deadline ends.
        guard (try? await takeLocalTurn()) != nil else { return }
        leaveTurn()
        if record.state == .finalizing && finalizing != nil { _ = await finish() }
    }
}
