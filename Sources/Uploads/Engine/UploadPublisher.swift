internal import Blobs
internal import Bytes
internal import SystemSupport

/// Turns the bytes of one upload into content once its digests are known to be right.
///
/// Every step may be repeated after a crash (§11.1).
struct UploadPublisher: Sendable {
    let engine: UploadEngine
    /// The record of an upload that is being finished.
    let record: UploadRecord
    /// The name of the bytes, staged and published.
    let blob: BlobName
    let queue: WorkQueue
    /// The version of the record, for storage that processes share.
    let version: Int64

    /// Content that was published, and its digests.
    typealias Published = (FinishedUpload, RunningHashes)

    /// The result of an attempt to publish.
    enum Outcome {
        /// The upload is content now.
        case published(FinishedUpload, RunningHashes)
        /// It can never become content.
        case failed(FailureReason, UploadError)
        /// The next request tries again.
        case unfinished(UploadError)
    }

    /// Publishes the bytes and calls the ``UploadFinisher``.
    ///
    /// - Parameter length: The length of the content.
    func run(_ length: Int64) async -> Outcome {
        do {
            let (upload, hashes) =
                if let shared = engine.shared {
                    try await publish(length, to: shared)
                } else {
                    try await publish(length)
                }
            if !record.tus.isPartial { try await engine.reportFinished(upload) }
            return .published(upload, hashes)
        } catch is ContentRefused {
            return .failed(.refused, .refused)
        } catch let error as UploadError {
            return switch error {
            case .contentMismatch: .failed(.digest, error)
            case .quotaExceeded: .failed(.quota, error)
            case .superseded: .unfinished(.stillFinalizing)
            default: .unfinished(error)
            }
        } catch let error as StorageError {
            if error == .fenced { return .unfinished(.stillFinalizing) }
            return error.isFinal ? .failed(.storageLost, .gone) : .unfinished(UploadError(error))
        } catch {
            return .unfinished(.backend)
        }
    }

    /// Publishes to storage that other processes read. A partial upload of a concatenation becomes an object,
    /// too, so that it can be copied from there.
    private func publish(_ length: Int64, to shared: SharedStorage) async throws -> Published {
        let isHashed = record.hashes.slowestPosition == length
        if isHashed && record.declared.sha512 == nil { try requireDeclared(record.hashes, nil) }
        if !record.tus.isPartial {
            try await engine.requireQuota(
                of: record.owner.application, for: length, besides: record.contentID)
        }
        try await shared.finish(
            record, of: blob, sha256: isHashed ? record.hashes.sha256.digest : nil,
            version: version)
        let hashes = try await checkPublished(length)
        return (finished(hashes, length, at: engine.clock.now()), hashes)
    }

    /// Publishes to storage that this process has for itself.
    ///
    /// Bytes in the parts of a bucket can be read only once they are one object. Until the finisher is called,
    /// no client can download that object; wrong content is deleted again.
    private func publish(_ length: Int64) async throws -> Published {
        // A partial upload of a concatenation stays staged and is not reported.
        let isPart = record.tus.isPartial
        var isLocal = isPart
        if !isPart { isLocal = try await engine.storage.isFullyStaged(blob) }
        var hashes = record.hashes
        if isLocal { hashes = try await checkStaged(length) }
        if !isPart {
            // After a crash the finisher may count this content already.
            try await engine.requireQuota(
                of: record.owner.application, for: length, besides: record.contentID)
            let isHashed = hashes.covered == length
            try await engine.storage.publish(
                StagedContent(
                    name: blob, size: length, mediaType: record.storedType,
                    sha256: isHashed ? hashes.sha256.digest : nil))
        }
        if !isLocal { hashes = try await checkPublished(length) }
        return (finished(hashes, length, at: engine.clock.now()), hashes)
    }

    /// Completes the digests of bytes on the local disk and compares them with the declared ones.
    private func checkStaged(_ length: Int64) async throws -> RunningHashes {
        let file: BlobFile
        do throws(DiskError) {
            file = try await wholeFile(length)
        } catch {
            throw StorageError(error)
        }
        return try await check(.file(file, queue), length)
    }

    /// The same for published content; it is read only where a digest has not seen all bytes.
    private func checkPublished(_ length: Int64) async throws -> RunningHashes {
        try await check(try await engine.storage.open(blob), length)
    }

    private func check(_ content: OpenContent, _ length: Int64) async throws -> RunningHashes {
        let wanted = record.declared.sha512 != nil
        let digests = try await engine.digests(
            of: content, length: length, from: record.hashes, withSHA512: wanted)
        try requireDeclared(digests.hashes, digests.sha512)
        return digests.hashes
    }

    private func requireDeclared(
        _ hashes: RunningHashes, _ sha512: [UInt8]?
    ) throws(UploadError) {
        guard matchesDeclared(hashes), record.declared.sha512 == sha512 else {
            engine.count { traffic in traffic.checksumFailures += 1 }
            throw .contentMismatch
        }
    }

    private func matchesDeclared(_ hashes: RunningHashes) -> Bool {
        let declared = record.declared
        if let md5 = declared.md5, md5 != hashes.md5?.digest { return false }
        if let crc32c = declared.crc32c, crc32c != hashes.crc32c.value { return false }
        if let sha256 = declared.sha256, sha256 != hashes.sha256.digest { return false }
        return true
    }

    /// The durable file with exactly these bytes.
    private func wholeFile(_ length: Int64) async throws(DiskError) -> BlobFile {
        let (engine, blob) = (engine, blob)
        return try await queue.run { () throws(DiskError) in
            // It was published before a crash.
            if try engine.blobs.contains(blob) { return try engine.blobs.open(blob) }
            // Staging creates a missing file, which is right only for empty content.
            guard try engine.blobs.stagedSize(blob) ?? 0 >= length else {
                throw DiskError(kind: .damaged, operation: "finalizing an upload")
            }
            let file = try engine.blobs.stage(blob)
            try file.truncate(to: length)
            try file.commit()
            return try engine.blobs.openStaged(blob)
        }
    }

    private func finished(_ hashes: RunningHashes, _ length: Int64, at now: Int64) -> FinishedUpload
    {
        FinishedUpload(
            contentID: record.contentID, owner: record.owner,
            content: StoredContent(
                mediaType: record.storedType, size: length, sha256: hashes.sha256.digest,
                md5: hashes.md5?.digest,
                // It equals the declared digest, or publishing would have failed.
                sha512: record.declared.sha512,
                crc32c: hashes.crc32c.value, fileName: record.fileName,
                completedAtMilliseconds: now, origin: record.origin))
    }
}
