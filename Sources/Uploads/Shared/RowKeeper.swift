internal import Blobs
internal import Locking

/// Replaces a record among those of several processes, by the version that was last seen.
///
/// Who takes it raises the version, and whoever wrote before is refused with his next replacement,
/// whatever he was told meanwhile.
final class RowKeeper: RecordKeeper {
    private let shelf: SharedShelf
    private let name: BlobName
    private let state: Locked<State>

    private struct State {
        var row: RegisteredUpload
        /// Taken since it was found, and not lost.
        var isOurs = false
    }

    init(_ shelf: SharedShelf, _ name: BlobName, _ row: RegisteredUpload) {
        self.shelf = shelf
        self.name = name
        state = Locked(State(row: row))
    }

    /// The version that was last seen.
    var version: Int64 { state.withLock { $0.row.version } }

    nonisolated(nonsending) func replace(
        with next: UploadRecord, after file: StagedFile?
    ) async throws(StorageError) {
        guard state.withLock({ $0.isOurs }) else { throw .fenced }
        do throws(StorageError) {
            guard try await put(next, next.bytes) else { throw .fenced }
        } catch {
            // Also where nobody knows whether it was replaced: the next one reads it again.
            state.withLock { $0.isOurs = false }
            throw error
        }
    }

    func take() async throws(StorageError) -> UploadRecord? {
        if state.withLock({ $0.isOurs }) { return nil }
        var current: UploadRecord?
        for _ in 0..<SharedShelf.attempts {
            let row = state.withLock { $0.row }
            guard let record = UploadRecord(row.record) else { throw .lost }
            if try await take(row, record) { return current }
            // Whoever writes it has committed meanwhile.
            current = try await read()
        }
        throw .fenced
    }

    func change() async throws(StorageError) -> UploadRecord? {
        let known = state.withLock { $0 }
        let row = try await find()
        if row.version == known.row.version || known.isOurs && row.holder == shelf.holder {
            return nil
        }
        return try adopt(row)
    }

    func takeToFinish() async throws(StorageError) -> UploadRecord? {
        if state.withLock({ $0.isOurs }) { return nil }
        while true {
            let current = try await read()
            guard current.state == .finalizing else { return current }
            let row = state.withLock { $0.row }
            if row.holder == shelf.holder || row.dueAt <= shelf.clock.now(),
                try await take(row, current)
            {
                return current
            }
            await shelf.clock.sleep(SharedShelf.pause)
            if Task.isCancelled { throw .fenced }
        }
    }

    /// - Returns: False when somebody replaced it meanwhile.
    private func take(
        _ row: RegisteredUpload, _ record: UploadRecord
    ) async throws(StorageError) -> Bool {
        // In this order: whatever lies here while we hold it was written while we held it.
        if row.holder != shelf.holder { try await shelf.discard(row.content) }
        guard try await put(record, row.record) else { return false }
        state.withLock { $0.isOurs = true }
        return true
    }

    private func put(_ record: UploadRecord, _ bytes: [UInt8]) async throws(StorageError) -> Bool {
        let last = version
        var row = shelf.row(name, record, version: last + 1)
        row.record = bytes
        let next = row
        guard
            try await shelf.ask({ registry in try await registry.replace(next, version: last) })
        else { return false }
        state.withLock { $0.row = next }
        return true
    }

    private func find() async throws(StorageError) -> RegisteredUpload {
        let name = name
        guard let row = try await shelf.ask({ registry in try await registry.find(name.text) })
        else { throw .missing }
        return row
    }

    private func read() async throws(StorageError) -> UploadRecord { try adopt(try await find()) }

    private func adopt(_ row: RegisteredUpload) throws(StorageError) -> UploadRecord {
        guard let record = UploadRecord(row.record) else { throw .lost }
        state.withLock { state in state = State(row: row) }
        return record
    }
}
