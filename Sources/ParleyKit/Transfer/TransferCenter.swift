internal import Blobs
internal import HTTP
internal import Logging
internal import Messaging
internal import SystemSupport
internal import Transfers

/// Runs the uploads and downloads of a client.
///
/// A loop starts what the store says is to be transferred, while the client is connected. Each attempt is a task of its
/// own; its state outlives it in memory, and what must outlive the process is in the store.
final class TransferCenter: Sendable, TransferControl {
    let store: Store
    let engine: SyncEngine
    let folder: ContentFolder
    /// Transfers that have become known.
    let began = Publisher<Transfer>.all(atMost: 1000)
    private let logger: Logger
    /// Sends the bytes of uploads instead of the transport, if the system goes on with them in the background (K41).
    let background: (any BackgroundUploader)?
    private let state = Locked(State())
    private let wake = WakeSignal()
    private let loop = BackgroundTask()

    private struct State {
        var isConnected = false
        /// The transfers that have not ended.
        var transfers: [MessagePart.ID: Transfer] = [:]
        var attempts: [MessagePart.ID: Task<Void, Never>] = [:]
        var uploads: [MessagePart.ID: UploadMachine] = [:]
        var downloads: [MessagePart.ID: DownloadMachine] = [:]
        var delays: [MessagePart.ID: Delay] = [:]
        /// The most bytes of contents on this device; 0 for no limit.
        var capacity: Int64 = 0
        /// When downloads go on after the disk was full.
        var diskIsFullUntil: ContinuousClock.Instant?
        /// The messages of uploads and the parts of downloads whose cancellation is not stored yet.
        var cancelling: Set<ObjectID> = []
        /// The writes of pauses and cancellations, in their order.
        var writes: Task<Void, Never>?
    }

    /// A back-off.
    private struct Delay {
        var failures = 0
        var until = ContinuousClock.now
    }

    /// What became of an attempt.
    enum Attempt: Sendable {
        /// The transfer has ended.
        case ended(ParleyError?)
        /// Another attempt follows.
        case retry(seconds: Int?, hasProgressed: Bool)
        /// It was paused or disconnected.
        case stopped
        /// The disk is full: downloads wait.
        case diskFull
    }

    init(
        _ engine: SyncEngine, _ folder: ContentFolder, _ background: (any BackgroundUploader)? = nil
    ) {
        self.background = background
        store = engine.store
        self.engine = engine
        self.folder = folder
        logger = engine.log.logger(.transfers)
        state.withLock { state in state.capacity = engine.configuration.diskCapacity }
    }

    // MARK: - Life

    /// Compares the files with the store, as after a crash (K49), and makes the transfers of the last run known that go on.
    func recover() async throws(ParleyError) {
        let (rows, rule) = (
            try await store.read { sql in try StoreTransaction(sql).filedParts() },
            engine.configuration.autoDownload
        )
        let (complete, partial) = try await folder.files()
        let now = Clock.now
        try await store.write { transaction in
            try transaction.setAutoDownload(rule)
            for row in rows {
                guard let file = row.state.file else { continue }
                if row.isUnsent || row.state.status == .complete {
                    if complete[file] != row.size { try transaction.noteMissingFile(of: row) }
                } else if complete[file] == row.size {
                    _ = try transaction.completeDownload(of: row.part, now: now)
                } else if row.state.wanted == .no,
                    let entry = partial.first(where: { $0.name == file }),
                    now.milliseconds - entry.modifiedAtMilliseconds > Self.partialFileLifetime
                {
                    try transaction.dropPartialFile(of: row)
                }
            }
        }
        try await enforceCapacity()
        let (kept, open) = try await store.read { sql in
            let transaction = StoreTransaction(sql)
            return (try transaction.filedParts(), try transaction.openTransfers())
        }
        let known = Set(kept.compactMap(\.state.file))
        await folder.remove((complete.keys + partial.map(\.name)).filter { !known.contains($0) })
        for row in open {
            let entry = partial.first { entry in entry.name == row.state.file }
            let here = row.isUnsent ? row.state.held : entry?.size ?? 0
            _ = register(row, completed: here)
        }
    }

    /// How long the bytes of a cancelled download are kept, in milliseconds.
    private static let partialFileLifetime: Int64 = 86_400_000

    /// Begins to observe the store.
    func start() {
        let (commits, connections) = (store.commits.subscribe(), engine.connections.subscribe())
        loop.start { [weak self, wake] in
            await withTaskGroup { group in
                group.addTask {
                    while let commit = await commits.next() {
                        guard let self else { return }
                        await self.take(commit)
                    }
                }
                group.addTask {
                    while let connection = await connections.next() {
                        // A connection ends every back-off (K14).
                        if connection == .live { self?.kick() }
                    }
                }
                group.addTask {
                    while !Task.isCancelled, let pause = await self?.startAttempts() {
                        await wake.wait(atMost: pause.milliseconds)
                    }
                }
            }
        }
    }

    func connect() {
        state.withLock { state in state.isConnected = true }
        wake.signal()
    }

    /// Stops all attempts; what they have done stays.
    func disconnect() async {
        let tasks = state.withLock { state in
            state.isConnected = false
            return Array(state.attempts.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Ends every back-off.
    func kick() {
        state.withLock { state in
            state.delays = [:]
            state.diskIsFullUntil = nil
        }
        wake.signal()
    }

    func close() async {
        await disconnect()
        await loop.stop()
        await state.withLock { state in state.writes }?.value
        let transfers = state.withLock { state in Array(state.transfers.values) }
        for transfer in transfers { transfer.close() }
        began.close()
    }

    // MARK: - Transfers

    /// The transfer of a part that has not ended.
    func transfer(of part: MessagePart.ID) -> Transfer? {
        state.withLock { state in state.transfers[part] }
    }

    /// Makes the transfer of a part known, unless it is.
    func register(_ row: TransferRow, completed: Int64 = 0) -> Transfer {
        let transfer = Transfer(
            row.part, row.isUnsent ? .upload : .download,
            TransferProgress(
                completed: min(completed, row.size), total: row.size,
                isPaused: row.state.isPaused), self)
        let known = state.withLock { state -> Transfer? in
            if let known = state.transfers[row.part] { return known }
            state.transfers[row.part] = transfer
            return nil
        }
        if let known { return known }
        began.publish(transfer)
        return transfer
    }

    /// Ends a transfer, and forgets what is in memory of it.
    private func end(_ part: MessagePart.ID, _ error: ParleyError?) {
        let (transfer, task) = state.withLock { state in
            state.uploads[part] = nil
            state.downloads[part] = nil
            state.delays[part] = nil
            return (state.transfers.removeValue(forKey: part), state.attempts[part])
        }
        task?.cancel()
        if error != nil { background?.cancel(part) }
        transfer?.finish(error)
    }

    /// Ends the uploads of a message that has failed.
    private func endUploads(of message: Message.ID, _ error: ParleyError) {
        let parts = state.withLock { state in
            state.transfers.values.filter { $0.part.message == message }.map(\.part)
        }
        for part in parts { end(part, error) }
    }

    private func take(_ commit: Store.Commit) async {
        for part in commit.removedParts { end(part, .cancelled) }
        await folder.remove(commit.removedFiles)
        if commit.hasSentContents { try? await enforceCapacity() }
        if commit.hasTransfers { wake.signal() }
    }

    func setPaused(_ isPaused: Bool, _ transfer: Transfer) {
        let part = transfer.part
        let task = state.withLock { state in isPaused ? state.attempts[part] : nil }
        task?.cancel()
        if isPaused { background?.cancel(part) }
        write { [store] in
            try? await store.write { transaction in try transaction.setPaused(isPaused, part) }
        }
    }

    func cancel(_ transfer: Transfer) {
        let part = transfer.part
        let isUpload = transfer.direction == .upload
        let object: ObjectID = isUpload ? .message(part.message) : .part(part)
        let upload = state.withLock { state in
            state.cancelling.insert(object)
            return state.uploads[part]?.location
        }
        end(part, .cancelled)
        if isUpload { endUploads(of: part.message, .cancelled) }
        write { [self, store, engine] in
            let url = try? await store.write { transaction -> String? in
                guard isUpload else {
                    try transaction.endDownload(of: part, keepsFile: true)
                    return nil
                }
                let row = try transaction.transfer(of: part)
                _ = try transaction.failUpload(of: part, .cancelled)
                return row?.uploadURL
            }
            state.withLock { state in _ = state.cancelling.remove(object) }
            if let url = upload?.url ?? (url ?? nil), engine.connection != .idle {
                _ = try? await engine.transport.send(TransportRequest(method: .delete, path: url))
            }
        }
    }

    /// Adds a write to those under way, in their order.
    private func write(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.writes = Task { [before = state.writes] in
                await before?.value
                await work()
            }
        }
    }

    // MARK: - Attempts

    /// The time until something else may run; `nil` if a signal comes before.
    private struct Pause {
        var milliseconds: Int64?
    }

    /// Starts what may run.
    private func startAttempts() async -> Pause {
        let (isConnected, running, delayed) = state.withLock { state in
            (state.isConnected, state.attempts.count, state.delays.count)
        }
        guard isConnected else { return Pause() }
        let configuration = engine.configuration
        let others = running + delayed
        let rows = try? await store.read { sql in
            let transaction = StoreTransaction(sql)
            return (
                uploads: try transaction.uploads(limit: configuration.concurrentUploads + others),
                downloads: try transaction.downloads(
                    limit: configuration.concurrentDownloads + others)
            )
        }
        guard let rows else { return Pause(milliseconds: 1000) }
        start(rows.uploads, atMost: configuration.concurrentUploads, .upload)
        start(rows.downloads, atMost: configuration.concurrentDownloads, .download)
        return state.withLock { state in
            let times =
                state.delays.values.map(\.until) + [state.diskIsFullUntil].compactMap(\.self)
            let next = times.filter { time in time > .now }.min()
            return Pause(
                milliseconds: next.map { next in max(1, Int64((next - .now) / .milliseconds(1))) })
        }
    }

    private func start(_ rows: [TransferRow], atMost limit: Int, _ direction: Transfer.Direction) {
        for row in rows {
            let mayRun = state.withLock { state -> Bool in
                let running = state.attempts.keys.count { part in
                    state.transfers[part]?.direction == direction
                }
                guard state.isConnected, running < limit, state.attempts[row.part] == nil,
                    state.cancelling.isDisjoint(with: [.message(row.part.message), .part(row.part)]
                    ),
                    state.transfers[row.part]?.progress.isPaused != true
                else { return false }
                if let delay = state.delays[row.part], delay.until > .now { return false }
                if direction == .download, let full = state.diskIsFullUntil, full > .now {
                    return false
                }
                return true
            }
            guard mayRun else { continue }
            let transfer = register(row, completed: row.state.held)
            state.withLock { state in
                guard state.isConnected else { return }
                // The task ends after it was stored here, because it needs the lock for that.
                state.attempts[row.part] = Task { await self.attempt(row, transfer) }
            }
        }
    }

    private func attempt(_ row: TransferRow, _ transfer: Transfer) async {
        let kicks = engine.kicks
        let attempt =
            switch transfer.direction {
            case .upload: await upload(row, transfer)
            case .download: await download(row, transfer)
            }
        state.withLock { state in
            state.attempts[row.part] = nil
            switch attempt {
            case .retry(let seconds, let hasProgressed) where state.transfers[row.part] != nil:
                var delay = state.delays[row.part] ?? Delay()
                delay.failures = hasProgressed ? 1 : delay.failures + 1
                // A kick has given the request up, or has come meanwhile.
                let limit: Double = engine.kicks == kicks ? 300 : 0
                delay.until =
                    .now
                    + (seconds.map { .seconds($0) }
                        ?? Backoff.delay(attempt: delay.failures, first: 1, most: limit))
                state.delays[row.part] = delay
            case .diskFull: state.diskIsFullUntil = .now + .seconds(30)
            case .retry, .ended, .stopped: break
            }
        }
        switch attempt {
        case .ended(let error):
            if let error {
                logger.info(
                    "a transfer has failed",
                    metadata: error.logged.merging(["direction": "\(transfer.direction)"]) { $1 })
            }
            if transfer.direction == .upload, let error {
                endUploads(of: row.part.message, error)
            }
            end(row.part, error)
        case .diskFull:
            engine.failures.publish(
                OperationFailure(object: .part(row.part), error: .diskFull))
        case .retry:
            logger.debug(
                "a transfer is tried again later",
                metadata: ["direction": "\(transfer.direction)"])
        case .stopped: break
        }
        wake.signal()
    }

    private func upload(_ row: TransferRow, _ transfer: Transfer) async -> Attempt {
        var machine = state.withLock { state in state.uploads[row.part] } ?? UploadMachine(row)
        let attempt = await UploadAttempt(self, row, transfer).run(&machine)
        state.withLock { state in
            if state.transfers[row.part] != nil { state.uploads[row.part] = machine }
        }
        return attempt
    }

    private func download(_ row: TransferRow, _ transfer: Transfer) async -> Attempt {
        var machine =
            state.withLock { state in state.downloads[row.part] }
            ?? DownloadMachine(size: row.size)
        let attempt = await DownloadAttempt(self, row, transfer).run(&machine)
        state.withLock { state in
            if state.transfers[row.part] != nil { state.downloads[row.part] = machine }
        }
        return attempt
    }

    // MARK: - Disk

    /// The most bytes of contents; 0 for no limit.
    func setCapacity(_ bytes: Int64) async throws(ParleyError) {
        state.withLock { state in state.capacity = bytes }
        try await enforceCapacity()
    }

    /// Deletes the least recently read contents, if there are more bytes than the capacity (K47).
    func enforceCapacity() async throws(ParleyError) {
        let capacity = state.withLock { state in state.capacity }
        guard capacity > 0 else { return }
        let used = try await utilization()
        guard used > capacity else { return }
        let excess = used - capacity / 5 * 4
        try await store.write { [folder] transaction in
            var freed: Int64 = 0
            for row in try transaction.evictableParts() where freed < excess {
                guard let file = row.state.file, !folder.isPinned(file) else { continue }
                if try transaction.purge(row) { freed += row.size }
            }
        }
    }

    /// The bytes of contents that the server has too, and of partial downloads.
    func utilization() async throws(ParleyError) -> Int64 {
        let (complete, names) = try await store.read { sql in
            let transaction = StoreTransaction(sql)
            let names = try transaction.filedParts().compactMap { row in
                row.state.status == .complete ? nil : row.state.file
            }
            return (try transaction.completeBytes(), Set(names))
        }
        let partial = try await folder.files().partial
        return partial.reduce(complete) { sum, entry in
            names.contains(entry.name) ? sum + entry.size : sum
        }
    }
}

extension UploadMachine {
    /// The state of an upload of the last run.
    init(_ row: TransferRow) {
        let content = row.state.content.flatMap { Messaging.Content.ID(bytes: $0) }
        let location = content.flatMap { content in
            row.uploadURL.map { url in Location(url: url, content: content.uuid) }
        }
        self.init(size: row.size, location: location, offset: row.state.held)
    }
}

extension ParleyError {
    static let diskFull = ParleyError(
        .diskFull, "The disk is nearly full; downloads wait.", isTransient: true)
}
