internal import Blobs
internal import HTTP
internal import SystemSupport

/// One upload while somebody deals with it: the serial owner of its state (§11.4).
///
/// Between requests an upload is a record on the disk and nothing in memory. Only the holder of the
/// turn changes the record; the committed record is what everybody else sees, at any time.
actor Upload {
    let name: BlobName
    let engine: UploadEngine
    let active: ActiveUploads
    let queue: WorkQueue
    let keeper: any RecordHandle
    /// As it is on the disk; every number in it is durable.
    var record: UploadRecord

    // The turn: one writer at a time.
    var isTaken = false
    var holder: (any RequestBody)?
    var waiting = WaitingList()
    /// How many turns have ended.
    var turns = 0
    /// Requests that wait for the end of a turn, and do not want one.
    var left = WaitingList()
    /// From where the running writer began to where it has received.
    var reach: ClosedRange<Int64>?
    var watch: AppendRequest.Watch?
    var isStopping = false
    var commits = Commits()

    // Bytes on their way to where contents lie; nobody moves them on a disk.
    var mover: PartUploader?
    var roomWait: Task<Bool, Never>?
    /// The writer was told to let go.
    var isInterrupted = false

    // Another process may go on with it at any time.
    /// Just loaded, so nobody can know better.
    var isFresh = true
    /// Another process has taken over; whoever comes now needs another owner of the state.
    var isFenced = false

    // Finalizing: at most one task, whoever asks.
    var finalizing: Task<Void, Never>?
    var ended = WaitingList()
    var fault: UploadError?

    init(
        _ kept: LoadedRecord, _ engine: UploadEngine, _ active: ActiveUploads
    ) {
        name = kept.name
        self.engine = engine
        self.active = active
        record = kept.record
        keeper = kept.keeper
        queue = engine.queues[name]
    }

    /// The state with every byte a running writer has received, committed; the writer goes on (§3.8).
    func receivedStatus() async -> UploadRecord {
        if record.state.isOpen { await commitReceived() }
        return status
    }

    /// The committed state; a running writer goes on.
    var status: UploadRecord {
        var status = record
        if isExpired { status.state = .expired }
        return status
    }

    /// The committed state once a running writer has let go: what the next request may go on from
    /// (§6.4).
    func settledStatus() async throws(UploadError) -> UploadRecord {
        if record.state.isOpen {
            try await takeTurn()
            leaveTurn()
        }
        return status
    }

    /// Past its time, with nobody writing.
    var isExpired: Bool {
        record.mayExpire && !isTaken && record.expiresAt <= engine.clock.now()
    }

    /// The name of the bytes, staged and published.
    var blob: BlobName {
        // Checked when the upload was created; a record that names no blob finds no file.
        BlobName(record.contentID) ?? name
    }
}

extension Upload {
    /// Becomes the only writer: the one before is told to stop, commits what it has, lets go.
    ///
    /// The usual cause of a second request is a client whose network changed; its old connection
    /// looks alive for minutes. So the newer request wins, at once.
    ///
    /// - Parameter isWriting: A body is about to be received, of which others may ask how far it is.
    /// - Throws: ``UploadError/locked`` when the old writer does not let go in time.
    func takeTurn(
        _ body: (any RequestBody)? = nil, isWriting: Bool = false
    ) async throws(UploadError) {
        try await takeTurnHere(body)
        guard record.mayExpire else { return }
        do throws(UploadError) {
            try await takeFromOthers(isWriting: isWriting)
        } catch {
            leaveTurn()
            throw error
        }
    }

    /// The same among the requests of this process.
    func takeTurnHere(_ body: (any RequestBody)? = nil) async throws(UploadError) {
        if isTaken {
            interrupt()
            guard await waitForTurn() else { throw .locked }
            engine.count { traffic in traffic.takeovers += 1 }
        }
        isTaken = true
        isInterrupted = false
        holder = body
        // A newer request waits already, or the server stops.
        if !waiting.isEmpty || isStopping { interrupt() }
    }

    /// Hands the turn to whoever waits longest.
    func leaveTurn() {
        holder = nil
        keeper.endWriting()
        reach = nil
        watch = nil
        commits.isEnding = false
        turns += 1
        left.wakeAll()
        // It stays taken when somebody follows, so that nobody steps in between.
        isTaken = waiting.wakeFirst()
    }

    /// Waits until the turn of that number is left.
    func untilLeft(_ turn: Int) async {
        while turns == turn {
            _ = await withCheckedContinuation { continuation in
                left.add(left.number(), continuation)
            }
        }
    }

    /// Tells a running writer to stop because the server does; it answers 503 (§11.10).
    func stop() {
        isStopping = true
        interrupt()
    }

    private func waitForTurn() async -> Bool {
        let number = waiting.number()
        let (clock, limit) = (engine.clock, engine.settings.takeoverWait)
        let timer = Task {
            await clock.sleep(limit)
            waiting.giveUp(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            waiting.add(number, continuation)
        }
    }
}

extension Upload {
    /// Opens the staged file as the record describes it, asks whether the bytes will fit, and takes
    /// their place on the disk where their number is known (§11.7).
    func openFile(for append: AppendRequest) async throws(UploadError) -> StagedFile {
        let (engine, name, blob, offset) = (engine, name, blob, record.offset)
        let length = record.length ?? append.total
        let brings = append.bodyLength != 0
        // What moves on takes no place for good.
        let stays = engine.mostStaged(record) == .max
        // What was declared was judged when it was; the rest grows with each request.
        if brings, record.length == nil {
            try await engine.requireQuota(
                of: record.owner.application,
                besidesUploads: append.total.map { total in total - offset } ?? append.bodyLength
                    ?? 1)
        }
        if engine.shared != nil { return try await openSharedFile(brings) }
        let file: StagedFile?
        do throws(DiskError) {
            file = try await queue.run { () throws(DiskError) in
                if brings { try engine.requireDiskSpace() }
                let file = try engine.blobs.stage(blob)
                let size = try file.size()
                if size < offset { return nil }
                // Bytes nobody ever saw: of a crash, a failed sync or an undone request.
                if size > offset {
                    try file.truncate(to: offset)
                    engine.ledger.withLock { $0.place(name, upTo: offset, from: offset) }
                }
                if brings, stays, let length, length - offset >= Upload.worthPlacing,
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
            try await beginMoving()
            return file
        }
        await fail(.storageLost)
        throw .gone
    }

    /// The same where what is staged is a copy, which is made again when it is missing.
    private func openSharedFile(_ brings: Bool) async throws(UploadError) -> StagedFile {
        guard let shared = engine.shared else { throw .backend }
        let engine = engine
        do throws(StorageError) {
            if brings {
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

    /// Of fewer bytes the file system finds the place by itself when they are written.
    private static let worthPlacing: Int64 = 8 << 20

    /// Makes a transfer durable and only then visible (§11.1); the order never changes.
    ///
    /// - Returns: What went wrong. The visible state is then as before, and the open file is not to
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
            if hasGrown { next.held = try await keep(file, for: next) }
        } catch {
            return error
        }
        return await write(next, after: hasGrown ? file : nil)
    }

    /// Replaces the record, durably, after the bytes it speaks of.
    func write(_ next: UploadRecord, after file: StagedFile? = nil) async -> StorageError? {
        let began = ContinuousClock.now
        do throws(StorageError) {
            try await keeper.replace(with: next, after: file)
        } catch {
            if error == .fenced {
                letGo()
                // What was put for it is named by nobody.
                await release(from: next.held, to: record.held)
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
        if hasGrown, let mover { await goOnMoving(with: mover) }
        await release(from: last, to: next.held)
        if next.state.isOpen { watch?.committed(next.offset) }
        return nil
    }
}

/// The commits that are made while a body still arrives (§4.1, step 8).
struct Commits {
    /// Knows what is written; `nil` where nothing may be committed on the way.
    var stores: BodyWriter?
    /// Where it is written.
    var file: StagedFile?
    /// How many bytes of the body were handed over to be written.
    var count: Int64 = 0
    /// Requests that wait until more bytes were handed over.
    var waiting = WaitingList()
    /// The body has ended, and its last bytes are being committed.
    var isEnding = false
    /// The commit that runs now.
    var running: Task<Void, Never>?
    /// A commit failed; the open file is not to be trusted any more.
    var fault: StorageError?
}

extension Upload {
    /// Makes what is written durable, beside the receiving; one commit at a time.
    ///
    /// It speaks of the bytes written before it began. Those written meanwhile are the next one's,
    /// so nobody has to wait. After one that failed there is none: the kernel tells a failed sync
    /// once, so the next would promise what is lost.
    func beginCommit() {
        guard commits.fault == nil, commits.running == nil, let transfer = commits.stores?.stored,
            transfer.written > record.offset
        else { return }
        let file = commits.file
        commits.running = Task {
            commits.fault = await commit(transfer, file)
            commits.running = nil
            if commits.fault == nil { commitWhenMuch() }
        }
    }

    /// Commits by bytes.
    func commitWhenMuch() {
        guard let stored = commits.stores?.stored else { return }
        if stored.written - record.offset >= engine.settings.commitBytes { beginCommit() }
    }

    /// Commits by time, also when a sender falls silent.
    func commitRegularly() -> Task<Void, Never> {
        let (clock, interval) = (engine.clock, engine.settings.commitInterval)
        return Task {
            while !Task.isCancelled {
                await clock.sleep(interval)
                if Task.isCancelled { return }
                await commitReceived()
                if Task.isCancelled { return }
                await lookForOthers()
            }
        }
    }

    /// Notes that bytes of the body were handed over to be written.
    func noteHandedOver(_ count: Int) {
        commits.count += Int64(count)
        commits.waiting.wakeAll()
    }

    /// Makes durable what a running writer has received by now, also what its connection still holds,
    /// while it goes on (ruling 33).
    ///
    /// A request that ends meanwhile has its last bytes committed before this returns. Of an atomic
    /// request nothing can be seen before its end, so there is nothing to wait for.
    func commitReceived() async {
        let turn = turns
        guard let holder, let stores = commits.stores else {
            if commits.isEnding {
                await untilLeft(turn)
            } else if !isTaken {
                await commitElsewhere()
            }
            return
        }
        let received = await holder.completePendingRead()
        while commits.stores === stores, commits.count < received {
            _ = await withCheckedContinuation { continuation in
                commits.waiting.add(commits.waiting.number(), continuation)
            }
        }
        if commits.stores === stores { await stores.finishLoads() }
        let written = stores.stored.written
        while commits.stores === stores, commits.fault == nil, record.offset < written {
            beginCommit()
            await commits.running?.value
        }
        if commits.stores !== stores { await untilLeft(turn) }
    }

    /// Waits for the commit that runs, and has no other begin; what the last one left wrong, if anything.
    func endCommits() async -> StorageError? {
        keeper.endWriting()
        commits.isEnding = commits.stores != nil
        commits.stores = nil
        commits.file = nil
        commits.waiting.wakeAll()
        await commits.running?.value
        return commits.fault
    }
}

// Where contents lie elsewhere, bytes move on while more arrive (§10.5).
extension Upload {
    /// Goes on moving what is held, before more comes.
    ///
    /// - Throws: ``UploadError/gone`` when moved bytes are lost; the upload has failed then.
    func beginMoving() async throws(UploadError) {
        // A part of a concatenation is kept here until it is joined.
        guard !record.tus.isPartial, let mover = engine.storage.mover(of: blob) else { return }
        self.mover = mover
        do throws(StorageError) {
            try await mover.known()
        } catch {
            throw UploadError(error)
        }
        if await mover.isLost {
            await fail(.storageLost)
            throw .gone
        }
        await goOnMoving(with: mover)
    }

    /// Tells of what is durable by now.
    func goOnMoving(with mover: PartUploader) async {
        await mover.advance(
            to: record.offset, length: record.length,
            mediaType: record.storedType)
    }

    /// Fills a buffer, once there is room for what it will bring.
    func fill(
        _ buffer: inout BodyBuffer, from body: any RequestBody, behind written: Int64,
        of append: AppendRequest
    ) async -> BodyEnd? {
        // What nobody may see yet cannot be moved, and waiting would not change that.
        if let mover, !append.isAtomic, !(await hasRoom(for: written, with: mover)) {
            buffer.removeAll()
            return .broken(.stalled)
        }
        return await body.fill(&buffer)
    }

    /// Waits while the store is too far behind, as long as a body may pause; a newcomer ends the wait,
    /// and then the body says so itself.
    private func hasRoom(for written: Int64, with mover: PartUploader) async -> Bool {
        if await mover.hasRoom(for: written) || isInterrupted { return true }
        let wait = Task { await mover.waitForRoom(for: written) }
        roomWait = wait
        let (clock, limit) = (engine.clock, engine.settings.bodyIdleTimeout)
        let timer = Task {
            await clock.sleep(limit)
            // Also the end of a timer that nobody needs any more.
            if !Task.isCancelled { wait.cancel() }
        }
        defer {
            timer.cancel()
            roomWait = nil
        }
        return await wait.value || isInterrupted
    }

    /// Tells a running writer to let go.
    func interrupt() {
        isInterrupted = true
        holder?.interrupt()
        roomWait?.cancel()
    }
}

// Where several processes may continue an upload, each of them asks whether it still may (§10.5, §11.4).
extension Upload {
    /// Whether another process may replace the record.
    var isShared: Bool { engine.shared != nil }

    /// Makes sure that no other process writes: the one that does commits what it has received, and stops. From one
    /// that does not answer in time the upload is taken as it was committed last.
    ///
    /// - Parameter isWriting: A body is about to be received, of which others may ask how far it is.
    func takeFromOthers(isWriting: Bool = false) async throws(UploadError) {
        guard isShared else { return }
        do throws(StorageError) {
            let stopped = try await keeper.askWriter(to: .stop)
            if let stopped { record = stopped }
            // It may have received the last byte.
            guard stopped == nil || record.mayExpire else { return }
            let current = try await keeper.take(isWriting: isWriting)
            if let current { record = current }
            if stopped != nil || current != nil {
                engine.count { traffic in traffic.takeovers += 1 }
            }
        } catch {
            throw UploadError(error)
        }
    }

    /// Whether this is the record as it is; of one that another process has replaced meanwhile, what is
    /// left of the requests here is told to stop.
    ///
    /// - Throws: ``UploadError/notFound`` when it was forgotten.
    func isCurrent() async throws(UploadError) -> Bool {
        guard isShared, !isFresh else {
            isFresh = false
            return !isFenced
        }
        do throws(StorageError) {
            guard let current = try await keeper.change() else { return !isFenced }
            guard isTaken || finalizing != nil else {
                record = current
                return !isFenced
            }
            letGo()
            return false
        } catch {
            throw error == .missing ? .notFound : UploadError(error)
        }
    }

    /// Another process has taken over: nothing that is done here counts any more.
    func letGo() {
        isFenced = true
        interrupt()
        finalizing?.cancel()
    }

    /// Looks whether another process has taken over, while a sender is silent.
    func lookForOthers() async {
        guard isShared, !isFenced else { return }
        // What cannot be asked now is asked again.
        if (try? await keeper.change()) != nil { return letGo() }
        if let request = keeper.request { await answer(request) }
    }

    /// Has the process that receives the body commit what it has received, and goes on with its record.
    func commitElsewhere() async {
        guard isShared, !isFenced else { return }
        // Where it cannot be asked, what was committed last is what counts.
        guard let current = try? await keeper.askWriter(to: .commit), !isTaken else { return }
        record = current
    }

    /// Does what another process asks of the one that receives the body.
    func answer(_ request: UploadWriterRequest) async {
        switch request {
        case .commit: await commitReceived()
        case .stop:
            let turn = turns
            if isTaken {
                interrupt()
                await untilLeft(turn)
            }
        }
        await keeper.answer()
    }

    /// Puts what is staged where other processes find it, before the record speaks of it.
    func keep(
        _ file: StagedFile?, for next: UploadRecord
    ) async throws(StorageError) -> StoredParts? {
        guard let shared = engine.shared, let file else { return next.held }
        return try await shared.keep(file, for: next, of: blob, version: keeper.version)
    }

    /// Gives up what a record no longer names, here and there.
    func release(from last: StoredParts?, to next: StoredParts?) async {
        guard let shared = engine.shared, let last, last != next else { return }
        let named = Set((next?.pieces ?? []).map(\.id))
        shared.drop(last.pieces.filter { piece in !named.contains(piece.id) }, of: blob)
        guard let base = next?.base, base > last.base else { return }
        let blob = blob
        // The room is given back when the file goes, too.
        try? await shared.work(on: blob) { blobs throws(DiskError) in
            try blobs.releaseSpace(of: blob, upTo: base)
        }
    }

    /// Waits while much more has arrived than is held where other processes find it (§10.5).
    func waitForOthers(_ written: Int64, of append: AppendRequest) async {
        guard let shared = engine.shared, !append.isAtomic else { return }
        let size = record.held?.partSize ?? shared.begin(record.length).partSize
        while written - record.offset >= 3 * size, commits.fault == nil, !isInterrupted {
            beginCommit()
            guard let running = commits.running else { return }
            await running.value
        }
    }

    /// Says that it is still being finished here, as long as its task is not cancelled.
    func beat() async {
        guard isShared else { return }
        while !Task.isCancelled {
            await engine.clock.sleep(SharedUploadRecords.beat)
            if Task.isCancelled { return }
            if await write(record) == .fenced { return letGo() }
        }
    }
}

extension Upload {
    /// Ends the upload for a client that no longer wants it (§5.10).
    func cancel() async throws(UploadError) {
        try await takeTurn()
        defer { leaveTurn() }
        if record.state == .finalizing {
            guard await finish() else { throw .stillFinalizing }
        }
        if record.state == .complete { try await takeFromOthers() }
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
        if let fault = await bury(as: .cancelled) { throw UploadError(fault) }
    }

    /// Ends an upload that cannot come to a content any more.
    func fail(_ reason: FailureReason) async {
        record.failure = reason
        // Not durable means that recovery finds the same reason again.
        _ = await bury(as: .failed)
    }

    /// Ends an upload whose time is up; `false` when somebody deals with it.
    func expire() async -> Bool {
        guard isExpired else { return false }
        isTaken = true
        defer { leaveTurn() }
        guard (try? await takeFromOthers()) != nil, record.mayExpire,
            record.expiresAt <= engine.clock.now()
        else { return false }
        return await bury(as: .expired) == nil
    }

    /// Deletes the bytes, then leaves a small record of how it ended.
    ///
    /// In this order a crash in between leaves an upload without bytes, which recovery fails; the
    /// other way it would leave bytes without an upload.
    private func bury(as state: UploadState) async -> StorageError? {
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
        engine.storage.giveUp(blob)
        var next = record
        next.state = state
        next.answer = nil
        next.expiresAt = engine.clock.now() + engine.settings.tombstoneTTL
        next.held = nil
        let upload = record.held?.upload
        if let error = await write(next) { return error }
        // Only now: whoever is not the last to have taken it must not end what others go on with.
        if let upload { await engine.shared?.abort(upload, of: blob) }
        return nil
    }
}

extension Upload {
    /// Waits until nobody writes and nothing is being finished.
    func settleDown() async {
        // Nobody else waits once the server stops, so the turn comes or the deadline does.
        guard (try? await takeTurnHere()) != nil else { return }
        leaveTurn()
        if record.state == .finalizing && finalizing != nil { _ = await finish() }
    }
}
