internal import Blobs
internal import SystemSupport

/// Makes staged files and records consistent after a crash (§11.2).
struct UploadRecovery {
    let engine: UploadEngine
    let records: RecordFolder

    /// The uploads that continue after the start.
    struct RecoveredUploads: Sendable {
        /// Uploads that were being finished.
        var unfinished: [BlobName] = []
        /// Uploads that may have bytes which were not sent to the bucket yet.
        var growing: [UploadRecord] = []
    }

    func run() async throws(DiskError) -> RecoveredUploads {
        try await WorkQueue("parley.uploads.recovery").run { () throws(DiskError) in
            try recover()
        }
    }

    private func recover() throws(DiskError) -> RecoveredUploads {
        let files = try engine.blobs.stagedEntries()
        let staged = Dictionary(
            files.map { file in (file.name, file) }, uniquingKeysWith: { _, later in later })
        var uploads = RecoveredUploads()
        var owned: Set<String> = []
        for entry in try records.entries() {
            // Another file: records are named by a digest.
            guard entry.name.utf8.count == 64, let name = BlobName(entry.name) else { continue }
            // Neither slot is valid: the record was never acknowledged, or the disk lost it. Nothing can continue,
            // and it is deleted when it is old enough.
            guard let (file, record) = try records.find(name) else {
                try removeOld(entry) { () throws(DiskError) in try records.delete(name) }
                continue
            }
            if !record.state.isTerminal || record.isKeptPart { owned.insert(record.contentID) }
            let recovered = try repair(record, file, staged[record.contentID]?.size ?? 0)
            engine.note(name, recovered)
            if let staged = staged[record.contentID], staged.size == recovered.offset {
                engine.ledger.withLock { ledger in
                    ledger.place(name, upTo: staged.allocated, from: recovered.offset)
                }
            }
            // The next request counts as one that resumes after an interruption.
            if recovered.state.isOpen, recovered.offset > 0 {
                engine.ledger.withLock { $0.note(name, isInterrupted: true) }
            }
            if recovered.state == .finalizing { uploads.unfinished.append(name) }
            if recovered.state == .receiving, !recovered.tus.isPartial {
                uploads.growing.append(recovered)
            }
        }
        for file in files where !owned.contains(file.name) {
            guard let name = BlobName(file.name) else { continue }
            try removeOld(file) { () throws(DiskError) in try engine.blobs.discard(name) }
        }
        return uploads
    }

    private func repair(
        _ record: UploadRecord, _ file: RecordFile, _ size: Int64
    ) throws(DiskError) -> UploadRecord {
        guard let blob = BlobName(record.contentID), record.mayExpire else { return record }
        if size < record.offset {
            try engine.blobs.discard(blob)
            let failed = engine.lost(record)
            try file.write(failed.bytes)
            return failed
        }
        if size > record.offset { try engine.blobs.stage(blob).truncate(to: record.offset) }
        return record
    }

    private func removeOld(
        _ entry: FolderEntry, _ remove: () throws(DiskError) -> Void
    ) throws(DiskError) {
        if engine.clock.isOrphaned(since: entry.modifiedAtMilliseconds) { try remove() }
    }
}
