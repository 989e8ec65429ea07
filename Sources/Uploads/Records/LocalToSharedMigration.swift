internal import Blobs
internal import ObjectStore
internal import SystemSupport

/// Moves uploads of a single process to storage that several processes share, at start.
///
/// For each upload the bytes are stored first, then the record, and the local files are deleted last, so a crash in
/// between repeats the step. Staged copies from earlier are deleted.
struct LocalToSharedMigration {
    let engine: UploadEngine
    let shared: SharedStorage
    let records: RecordFolder

    func run() async throws(DiskError) {
        let queue = WorkQueue("parley.uploads.handover")
        let (records, blobs) = (records, engine.blobs)
        let names = try await queue.run { () throws(DiskError) in
            try records.entries().compactMap { entry in
                // Another file: records are named by a digest.
                entry.name.utf8.count == 64 ? BlobName(entry.name) : nil
            }
        }
        for name in names { try await handOver(name, on: queue) }
        try await queue.run { () throws(DiskError) in
            for file in try blobs.stagedEntries() {
                if let name = BlobName(file.name) { try blobs.discard(name) }
            }
        }
    }

    private func handOver(_ name: BlobName, on queue: WorkQueue) async throws(DiskError) {
        let (records, engine) = (records, engine)
        let found = try await queue.run { () throws(DiskError) in try records.find(name)?.record }
        if let found {
            do throws(StorageError) {
                if try await engine.records.find(name) == nil {
                    try await shared.recordStore.adopt(name, try await held(found))
                }
                if let blob = BlobName(found.contentID) {
                    try await shared.bucket.uploader(for: blob).closeJournal()
                }
            } catch {
                shared.bucket.onFault(error)
                throw DiskError(kind: .other, operation: "handing over an upload")
            }
        }
        try await queue.run { () throws(DiskError) in try records.delete(name) }
    }

    /// The record with its bytes in shared storage.
    private func held(_ record: UploadRecord) async throws(StorageError) -> UploadRecord {
        var record = record
        guard record.isHeld, record.offset > 0, let blob = BlobName(record.contentID),
            // It was finished before a crash.
            try await !shared.isPublishedHere(blob)
        else { return record }
        if let moved = try await shared.bucket.uploader(for: blob).known() {
            record.held = StoredParts(moved, of: record.offset)
        }
        let size = try await shared.work(on: blob) { blobs throws(DiskError) in
            try blobs.stagedSize(blob) ?? 0
        }
        guard size >= record.offset else {
            return engine.lost(record)
        }
        let file = try await shared.work(on: blob) { blobs throws(DiskError) in
            try blobs.stage(blob)
        }
        record.held = try await shared.keep(file, for: record, of: blob, version: 0)
        if record.isKeptPart {
            try await shared.finish(record, of: blob, sha256: nil, version: 0)
            record.held = nil
        }
        return record
    }
}

extension StoredParts {
    /// The parts that were sent already, numbered from 1.
    fileprivate init(_ moved: JournaledParts, of size: Int64) {
        self.init(partSize: moved.partSize, longest: .max)
        upload = moved.upload
        parts = moved.parts(of: size)
    }
}
