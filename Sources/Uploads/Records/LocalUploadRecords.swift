internal import Blobs
internal import SystemSupport

/// Upload records on the local disk, used by one process.
struct LocalUploadRecords: UploadRecordStore {
    let records: RecordFolder
    let queues: WorkQueuePool
    let ledger: Locked<UploadLedger>

    func find(_ name: BlobName) async throws(StorageError) -> LoadedRecord? {
        let (records, queue) = (records, queues[name])
        do throws(DiskError) {
            let found = try await queue.run { () throws(DiskError) in try records.find(name) }
            return found.map { found in
                LoadedRecord(
                    name: name, record: found.record,
                    handle: FileRecordHandle(file: found.file, queue: queue))
            }
        } catch {
            throw .disk(error)
        }
    }

    func name(of content: BlobName) async throws(StorageError) -> BlobName? {
        ledger.withLock { $0.record(of: content) }
    }

    func create(
        _ name: BlobName, _ record: UploadRecord, by engine: UploadEngine
    ) async throws(UploadError) {
        let (records, bytes) = (records, record.bytes)
        do throws(DiskError) {
            try await queues[name].run { () throws(DiskError) in
                // A concatenation has its space already.
                if record.offset == 0 { try engine.requireDiskSpace() }
                _ = try records.create(name, bytes)
            }
        } catch {
            throw UploadError(error)
        }
    }

    func forget(_ record: LoadedRecord) async throws(StorageError) {
        let (records, name) = (records, record.name)
        do throws(DiskError) {
            try await queues[name].run { () throws(DiskError) in try records.delete(name) }
        } catch {
            throw .disk(error)
        }
    }

    func due(at moment: Int64, limit: Int) async throws(StorageError) -> [BlobName] {
        ledger.withLock { $0.due(at: moment, limit: limit) }
    }

    func list(
        _ application: String?, isOpen: Bool, after content: String?, limit: Int
    ) async throws(StorageError) -> [UploadListEntry] {
        let found = ledger.withLock { ledger in
            ledger.listed(application, isOpen: isOpen, after: content, limit: limit)
        }
        var entries: [UploadListEntry] = []
        for (content, name) in found {
            entries.append(
                UploadListEntry(
                    name: name, content: content, record: try await find(name)?.record))
        }
        return entries
    }

    func claimed(by application: String) async throws(StorageError) -> Int64 {
        ledger.withLock { $0.claimed(by: application) }
    }

    func runExclusively(_ work: @escaping @Sendable () async -> Void) async { await work() }
}

/// Replaces a record in its file.
struct FileRecordHandle: RecordHandle {
    fileprivate let file: RecordFile
    fileprivate let queue: WorkQueue

    var version: Int64 { 0 }

    nonisolated(nonsending) func replace(
        with next: UploadRecord, after staged: StagedFile?
    ) async throws(StorageError) {
        let (bytes, file) = (next.bytes, file)
        do throws(DiskError) {
            try await queue.run { () throws(DiskError) in
                try staged?.commit()
                if file.payload != bytes { try file.write(bytes) }
            }
        } catch {
            throw .disk(error)
        }
    }

    func take(isWriting: Bool) async throws(StorageError) -> UploadRecord? { nil }

    // No other process receives a body.
    func endWriting() {}

    func askWriter(to request: UploadWriterRequest) async throws(StorageError) -> UploadRecord? {
        nil
    }

    var request: UploadWriterRequest? { nil }

    func answer() async {}

    func change() async throws(StorageError) -> UploadRecord? { nil }

    func takeToFinish() async throws(StorageError) -> UploadRecord? { nil }
}

extension RecordFolder {
    /// A stored record and its file; `nil` when there is none or neither slot is valid.
    ///
    /// - Throws: Why it could not be read: no file descriptor, a failing device, missing permission. The
    ///   record may exist: treated as unknown, the client would start over, or recovery would delete it.
    func find(_ name: BlobName) throws(DiskError) -> (file: RecordFile, record: UploadRecord)? {
        do throws(DiskError) {
            let file = try open(name)
            return UploadRecord(file.payload).map { record in (file, record) }
        } catch {
            guard error.kind == .missing || error.kind == .damaged else { throw error }
            return nil
        }
    }
}
