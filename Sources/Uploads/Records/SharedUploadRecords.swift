internal import Blobs
internal import Bytes
internal import SystemSupport

/// Upload records in a registry, where any process may continue any upload.
struct SharedUploadRecords: UploadRecordStore {
    let registry: any UploadRegistry
    let blobs: BlobFolder
    let queues: WorkQueuePool
    let clock: UploadClock
    let onFault: @Sendable (any Error) -> Void
    /// Identifies this process; new at each start.
    let holder: [UInt8]
    /// See ``UploadSettings/peerReplyTimeout``.
    let peerReplyTimeout: Int64

    /// How long a process may finish an upload without renewing its claim, in milliseconds.
    static let claimDuration: Int64 = 6000
    /// How often a process renews its claim, in milliseconds.
    static let renewalInterval: Int64 = 2000
    /// The wait before checking again whether another process has finished, in milliseconds.
    fileprivate static let pollInterval: Int64 = 200
    /// How often taking a record is tried while another process replaces it.
    fileprivate static let attempts = 10

    func find(_ name: BlobName) async throws(StorageError) -> LoadedRecord? {
        let row = try await call { registry in try await registry.find(name.text) }
        guard let row, let record = UploadRecord(row.record) else { return nil }
        return LoadedRecord(
            name: name, record: record, handle: RowRecordHandle(self, name, row))
    }

    func name(of content: BlobName) async throws(StorageError) -> BlobName? {
        let row = try await call { registry in try await registry.find(content: content.text) }
        return row.flatMap { row in BlobName(row.name) }
    }

    /// The record of the upload that results in a content.
    func record(of content: BlobName) async throws(StorageError) -> UploadRecord? {
        let row = try await call { registry in try await registry.find(content: content.text) }
        return row.flatMap { row in UploadRecord(row.record) }
    }

    func create(
        _ name: BlobName, _ record: UploadRecord, by engine: UploadEngine
    ) async throws(UploadError) {
        let quota = try await engine.rest(of: record.owner.application)
        let row = row(name, record, version: 1)
        let made: UploadCreationResult
        do throws(StorageError) {
            made = try await call { registry in
                try await registry.create(
                    row, mostOpen: engine.settings.maxOpenUploadsPerOwner, mostClaimed: quota)
            }
        } catch {
            throw UploadError(error)
        }
        switch made {
        case .created: return
        case .tooMany: throw .tooManyUploads
        case .tooLarge: throw .quotaExceeded(engine.settings.applicationQuota ?? 0)
        }
    }

    func forget(_ record: LoadedRecord) async throws(StorageError) {
        guard let handle = record.handle as? RowRecordHandle else { return }
        let version = handle.version
        try await call { registry in
            try await registry.forget(record.name.text, version: version)
        }
    }

    func due(at moment: Int64, limit: Int) async throws(StorageError) -> [BlobName] {
        try await call { registry in
            try await registry.due(at: moment, limit: limit)
        }.compactMap { name in BlobName(name) }
    }

    func list(
        _ application: String?, isOpen: Bool, after content: String?, limit: Int
    ) async throws(StorageError) -> [UploadListEntry] {
        try await call { registry in
            try await registry.list(application, isOpen: isOpen, after: content, limit: limit)
        }.compactMap { row in
            BlobName(row.name).map { name in
                UploadListEntry(
                    name: name, content: row.content, record: UploadRecord(row.record))
            }
        }
    }

    func claimed(by application: String) async throws(StorageError) -> Int64 {
        try await call { registry in try await registry.claimed(by: application) }
    }

    func runExclusively(_ work: @escaping @Sendable () async -> Void) async {
        do {
            try await registry.runExclusively(work)
        } catch {
            onFault(error)
        }
    }

    /// The registry's row for a record.
    func row(_ name: BlobName, _ record: UploadRecord, version: Int64) -> RegisteredUpload {
        let owner = [record.owner.conversation ?? "", record.owner.user ?? ""]
        return RegisteredUpload(
            name: name.text, version: version, holder: holder, content: record.contentID,
            application: record.owner.application,
            // Hashed, because it may have any length.
            owner: String(
                hexadecimal: SHA256.digest(of: Array(owner.joined(separator: "\u{0}").utf8))),
            isOpen: record.state.isOpen, claimed: record.claimed,
            dueAt: record.state == .finalizing
                ? clock.now() + SharedUploadRecords.claimDuration : record.expiresAt,
            record: record.bytes)
    }

    /// Discards the staged copy of a content whose upload another process has continued since.
    func discard(_ content: String) async throws(StorageError) {
        guard let blob = BlobName(content) else { return }
        let blobs = blobs
        do throws(DiskError) {
            try await queues[blob].run { () throws(DiskError) in try blobs.discard(blob) }
        } catch {
            throw .disk(error)
        }
    }

    /// Calls the registry; its errors are logged here, once.
    func call<Value: Sendable>(
        _ work: (any UploadRegistry) async throws -> Value
    ) async throws(StorageError) -> Value {
        do {
            return try await work(registry)
        } catch {
            onFault(error)
            throw .unregistered
        }
    }
}

extension SharedUploadRecords {
    /// Stores a record of an existing upload, without checking limits.
    func adopt(_ name: BlobName, _ record: UploadRecord) async throws(StorageError) {
        let row = row(name, record, version: 1)
        _ = try await call { registry in
            try await registry.create(row, mostOpen: .max, mostClaimed: nil)
        }
    }
}

/// Replaces one record in the registry, on condition of its version.
///
/// Taking a record raises its version, so the next replacement by the previous process is refused.
final class RowRecordHandle: RecordHandle {
    private let recordStore: SharedUploadRecords
    private let name: BlobName
    private let state: Locked<State>

    private struct State {
        var row: RegisteredUpload
        /// Whether this process has taken the record since it was read, and has not lost it.
        var isOurs = false
        /// Whether this process is about to take the record, and may have done so without knowing it yet.
        var isTaking = false
        /// Whether a request of this process receives a body.
        var isWriting = false
    }

    init(_ recordStore: SharedUploadRecords, _ name: BlobName, _ row: RegisteredUpload) {
        self.recordStore = recordStore
        self.name = name
        state = Locked(State(row: row))
    }

    /// The version that was read or written last.
    var version: Int64 { state.withLock { $0.row.version } }

    nonisolated(nonsending) func replace(
        with next: UploadRecord, after file: StagedFile?
    ) async throws(StorageError) {
        guard state.withLock({ $0.isOurs }) else { throw .fenced }
        do throws(StorageError) {
            guard try await put(next, next.bytes) else { throw .fenced }
        } catch {
            // Also when it is unknown whether the record was replaced: it is read again before the next
            // replacement.
            state.withLock { $0.isOurs = false }
            throw error
        }
    }

    func take(isWriting: Bool) async throws(StorageError) -> UploadRecord? {
        let known = state.withLock { state in
            state.isWriting = isWriting
            state.isTaking = true
            return state
        }
        defer { state.withLock { $0.isTaking = false } }
        if known.isOurs {
            // The previous request has recorded that it has ended.
            if isWriting, !known.row.isWritten {
                guard let record = UploadRecord(known.row.record) else { throw .lost }
                guard try await put(record, known.row.record) else { throw .fenced }
            }
            return nil
        }
        var current: UploadRecord?
        for _ in 0..<SharedUploadRecords.attempts {
            let row = state.withLock { $0.row }
            guard let record = UploadRecord(row.record) else { throw .lost }
            if try await take(row, record) { return current }
            // The process that writes has committed meanwhile.
            current = try await read()
        }
        throw .fenced
    }

    func change() async throws(StorageError) -> UploadRecord? {
        let row = try await find()
        let isKnown = state.withLock { state in
            // Another request may have taken or replaced the record while it was read.
            let isOwn = row.holder == recordStore.holder && (state.isOurs || state.isTaking)
            guard isOwn || row.version <= state.row.version else { return false }
            state.row.request = row.request
            return true
        }
        return isKnown ? nil : try adopt(row)
    }

    func takeToFinish() async throws(StorageError) -> UploadRecord? {
        if state.withLock({ $0.isOurs }) { return nil }
        while true {
            let current = try await read()
            guard current.state == .finalizing else { return current }
            let row = state.withLock { $0.row }
            if row.holder == recordStore.holder || row.dueAt <= recordStore.clock.now(),
                try await take(row, current)
            {
                return current
            }
            await recordStore.clock.sleep(SharedUploadRecords.pollInterval)
            if Task.isCancelled { throw .fenced }
        }
    }

    func endWriting() { state.withLock { $0.isWriting = false } }

    var request: UploadWriterRequest? { state.withLock { $0.row.request } }

    func answer() async {
        let isWriting = state.withLock { state in
            state.row.request = nil
            return state.isOurs && state.isWriting
        }
        // If this fails, the requesting process waits until its timeout.
        try? await answer(at: recordStore.holder, isWritten: isWriting)
    }

    func askWriter(to request: UploadWriterRequest) async throws(StorageError) -> UploadRecord? {
        let known = state.withLock { $0 }
        let (name, holder) = (name.text, known.row.holder)
        guard !known.isOurs, known.row.isWritten, holder != recordStore.holder else { return nil }
        let isSent = try await recordStore.call { registry in
            try await registry.send(request, to: holder, of: name)
        }
        let clock = ContinuousClock()
        let end = clock.now + .milliseconds(recordStore.peerReplyTimeout)
        var (row, wait) = (try await find(), Int64(5))
        while isSent, row.holder == holder, row.isWritten,
            request == .stop || row.request != nil
        {
            guard clock.now < end, !Task.isCancelled else {
                // Other requests need not wait for it as well. When that process continues, its next replacement
                // records that it receives.
                try await answer(at: holder, isWritten: false)
                break
            }
            await pause(milliseconds: wait)
            wait = min(2 * wait, 100)
            row = try await find()
        }
        let isNewer = state.withLock { state in
            guard !state.isOurs, state.row.version <= row.version else { return false }
            state.row = row
            return true
        }
        guard isNewer else { return nil }
        guard let record = UploadRecord(row.record) else { throw .lost }
        return record
    }

    private func answer(at holder: [UInt8], isWritten: Bool) async throws(StorageError) {
        let name = name.text
        try await recordStore.call { registry in
            try await registry.answer(name, at: holder, isWritten: isWritten)
        }
    }

    /// - Returns: False when another process has replaced the record meanwhile.
    private func take(
        _ row: RegisteredUpload, _ record: UploadRecord
    ) async throws(StorageError) -> Bool {
        // Old staged bytes are discarded before the record is taken, so that all bytes staged here afterwards belong
        // to the time since.
        if row.holder != recordStore.holder { try await recordStore.discard(row.content) }
        guard try await put(record, row.record) else { return false }
        state.withLock { $0.isOurs = true }
        return true
    }

    private func put(_ record: UploadRecord, _ bytes: [UInt8]) async throws(StorageError) -> Bool {
        let (last, isWriting) = state.withLock { state in (state.row.version, state.isWriting) }
        // A version counts replacements; no server can have replaced a record so often that it overflows.
        let (version, overflow) = last.addingReportingOverflow(1)
        if overflow { throw .lost }
        var row = recordStore.row(name, record, version: version)
        row.record = bytes
        row.isWritten = isWriting
        let next = row
        let isReplaced = try await recordStore.call { registry in
            try await registry.replace(next, version: last)
        }
        guard isReplaced else { return false }
        state.withLock { $0.row = next }
        return true
    }

    private func find() async throws(StorageError) -> RegisteredUpload {
        let name = name
        guard
            let row = try await recordStore.call({ registry in try await registry.find(name.text) })
        else { throw .missing }
        return row
    }

    private func read() async throws(StorageError) -> UploadRecord { try adopt(try await find()) }

    private func adopt(_ row: RegisteredUpload) throws(StorageError) -> UploadRecord {
        guard let record = UploadRecord(row.record) else { throw .lost }
        state.withLock { state in state = State(row: row, isWriting: state.isWriting) }
        return record
    }
}
