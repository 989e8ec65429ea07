internal import Blobs
internal import SystemSupport

/// The bytes of an unfinished upload: in a staged file, and where processes share storage also in the bucket.
struct UploadStaging: Sendable {
    let engine: UploadEngine
    /// The name of the record.
    let name: BlobName
    /// The name under which the bytes are staged and published.
    let blob: BlobName
    /// The queue for disk access.
    let queue: WorkQueue

    /// Below this many bytes preallocation is not worth a system call.
    private static let preallocationMinimum: Int64 = 8 << 20

    /// Opens the staged file at the length that the record states, checks that the bytes will fit, and preallocates
    /// their space where their number is known (§11.7).
    ///
    /// - Returns: `nil` when stored bytes are lost.
    func open(
        _ record: UploadRecord, for append: AppendRequest
    ) async throws(UploadError) -> StagedFile? {
        let offset = record.offset
        let hasBody = append.bodyLength != 0
        // A declared length was checked at creation; an unknown one grows with each request.
        if hasBody, record.length == nil {
            try await engine.requireQuota(
                of: record.owner.application,
                besidesUploads: append.total.map { total in total - offset } ?? append.bodyLength
                    ?? 1)
        }
        if let shared = engine.shared { return try await open(record, hasBody, in: shared) }
        let length = record.length ?? append.total
        // Bytes that go to a bucket are released again, so no space is preallocated for them.
        let staysStaged = engine.mostStaged(record) == .max
        do throws(DiskError) {
            return try await queue.run { () throws(DiskError) in
                if hasBody { try engine.requireDiskSpace() }
                let file = try engine.blobs.stage(blob)
                let size = try file.size()
                if size < offset { return nil }
                // A crash, a failed sync or an undone request has left uncommitted bytes.
                if size > offset {
                    try file.truncate(to: offset)
                    engine.ledger.withLock { $0.place(name, upTo: offset, from: offset) }
                }
                if hasBody, staysStaged, let length, length - offset >= Self.preallocationMinimum,
                    try file.reserve(offset..<length)
                {
                    engine.ledger.withLock { $0.place(name, upTo: length, from: offset) }
                }
                return file
            }
        } catch {
            throw UploadError(error)
        }
    }

    /// Opens the staged file where it is a copy, which is downloaded again when it is missing.
    private func open(
        _ record: UploadRecord, _ hasBody: Bool, in shared: SharedStorage
    ) async throws(UploadError) -> StagedFile? {
        do throws(StorageError) {
            if hasBody {
                try await shared.work(on: blob) { _ throws(DiskError) in
                    try engine.requireDiskSpace()
                }
            }
            return try await shared.stage(record, of: blob)
        } catch {
            if error == .lost { return nil }
            throw UploadError(error)
        }
    }

    /// Stores staged bytes where other processes can read them, before the record counts them.
    ///
    /// - Parameters:
    ///   - next: The new record.
    ///   - version: The version of the current record.
    func store(
        _ file: StagedFile?, for next: UploadRecord, version: Int64
    ) async throws(StorageError) -> StoredParts? {
        guard let shared = engine.shared, let file else { return next.held }
        return try await shared.keep(file, for: next, of: blob, version: version)
    }

    /// Deletes what the new record no longer names: objects in the bucket and staged bytes.
    func deleteUnused(_ last: StoredParts?, after next: StoredParts?) async {
        guard let shared = engine.shared, let last, last != next else { return }
        let named = Set((next?.pieces ?? []).map(\.id))
        shared.drop(last.pieces.filter { piece in !named.contains(piece.id) }, of: blob)
        guard let base = next?.base, base > last.base else { return }
        // On failure the space is freed when the file is deleted.
        try? await shared.work(on: blob) { blobs throws(DiskError) in
            try blobs.releaseSpace(of: blob, upTo: base)
        }
    }

    /// Deletes all bytes of an upload that ends.
    ///
    /// - Parameter isPublished: Whether they may be published already.
    func discard(isPublished: Bool) async throws(StorageError) {
        do throws(DiskError) {
            try await queue.run { () throws(DiskError) in try engine.blobs.discard(blob) }
        } catch {
            throw .disk(error)
        }
        if isPublished { _ = try await engine.storage.erase(blob) }
        engine.storage.cancelParts(of: blob)
    }

    /// Deletes the local copy of bytes that are published in the bucket; the sweeper removes what cannot be discarded
    /// now.
    func discardCopy() async {
        guard let shared = engine.shared else { return }
        try? await shared.work(on: blob) { blobs throws(DiskError) in try blobs.discard(blob) }
    }
}
