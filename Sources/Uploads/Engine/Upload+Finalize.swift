internal import Blobs
internal import Checksums
internal import Digests
internal import HTTP
internal import Locking

extension Upload {
    /// The final answer of an upload that takes no more bytes, or why there is none.
    func endedAnswer() async throws(UploadError) -> StoredAnswer {
        if record.state == .finalizing {
            guard await finish() else { throw .stillFinalizing }
            if let fault { throw fault }
        }
        guard record.state == .complete, let answer = record.answer else { throw .gone }
        return answer
    }

    /// Finishes the upload, or joins whoever does; `false` when it takes too long.
    func finish() async -> Bool {
        if finalizing == nil {
            fault = nil
            finalizing = Task {
                fault = await finalize()
                finalizing = nil
                ended.wakeAll()
            }
        }
        let number = ended.number()
        let (clock, limit) = (engine.clock, engine.settings.finalizeWait)
        let timer = Task {
            await clock.sleep(limit)
            ended.giveUp(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in ended.add(number, continuation) }
    }

    /// Checks, publishes, tells, marks; every step may be repeated after a crash (§11.1).
    ///
    /// - Returns: What those who wait are told when it did not come to a content. The upload is
    ///   then either failed, or still finalizing and tried again by the next request.
    private func finalize() async -> UploadError? {
        guard record.state == .finalizing, let length = record.length else { return nil }
        let hashes: RunningHashes
        do throws(DiskError) {
            hashes = try await wholeHashes(length)
        } catch {
            if error.kind != .damaged && error.kind != .missing { return UploadError(error) }
            await fail(.storageLost)
            return .gone
        }
        guard isAsDeclared(hashes), await isAsDeclaredAtLength(length) else {
            engine.count { traffic in traffic.checksumFailures += 1 }
            await fail(.digest)
            return .contentMismatch
        }
        let upload = finished(hashes, length, at: engine.clock.now())
        // A part stays where it is, and nobody is told.
        if record.tus.isPartial { return await markComplete(upload, hashes) }
        do throws(UploadError) {
            try await engine.requireQuota(of: record.owner.application, for: length)
        } catch {
            if case .quotaExceeded = error { await fail(.quota) }
            return error
        }
        do {
            try await engine.storage.publish(
                Publication(name: blob, size: length, mediaType: upload.mediaType))
            try await engine.finisher.finished(upload)
            return await markComplete(upload, hashes)
        } catch is ContentRefused {
            await fail(.refused)
            return .refused
        } catch let error as StorageError {
            return UploadError(error)
        } catch {
            return .backend
        }
    }

    /// The digests of the whole content, read up where one began late.
    private func wholeHashes(_ length: Int64) async throws(DiskError) -> RunningHashes {
        let (engine, blob, hashes) = (engine, blob, record.hashes)
        return try await queue.run { () throws(DiskError) in
            var whole = hashes
            if try engine.blobs.contains(blob) {
                // Published before a crash.
                let file = try engine.blobs.open(blob)
                try whole.catchUp(to: length) { count, place throws(DiskError) in
                    try file.read(count, at: place)
                }
                return whole
            }
            let file = try engine.blobs.stage(blob)
            guard try file.size() >= length else {
                throw DiskError(kind: .damaged, operation: "finalize")
            }
            try file.truncate(to: length)
            try file.commit()
            try whole.catchUp(to: length) { count, place throws(DiskError) in
                try file.read(count, at: place)
            }
            return whole
        }
    }

    private func isAsDeclared(_ hashes: RunningHashes) -> Bool {
        let declared = record.declared
        if let md5 = declared.md5, md5 != hashes.md5?.digest { return false }
        if let crc32c = declared.crc32c, crc32c != hashes.crc32c.value { return false }
        if let sha256 = declared.sha256, sha256 != hashes.sha256.digest { return false }
        return true
    }

    /// SHA-512 runs for nobody else, so the few who declare one have the file read once more.
    private func isAsDeclaredAtLength(_ length: Int64) async -> Bool {
        guard let declared = record.declared.sha512 else { return true }
        let (engine, blob) = (engine, blob)
        let digest = try? await queue.run { () throws(DiskError) in
            try engine.sha512(of: blob, length: length)
        }
        return digest == declared
    }

    private func finished(_ hashes: RunningHashes, _ length: Int64, at now: Int64) -> FinishedUpload
    {
        FinishedUpload(
            contentID: record.contentID, owner: record.owner,
            mediaType: record.mediaType ?? MediaType.unknown.text, size: length,
            fileName: record.fileName, sha256: hashes.sha256.digest,
            crc32c: hashes.crc32c.value, md5: hashes.md5?.digest,
            completedAtMilliseconds: now, origin: record.origin)
    }

    private func markComplete(
        _ upload: FinishedUpload, _ hashes: RunningHashes
    ) async -> UploadError? {
        var next = record
        next.hashes = hashes
        next.state = .complete
        next.completedAt = upload.completedAtMilliseconds
        // A part lives on as long as it would have lived unfinished.
        if !record.tus.isPartial {
            next.expiresAt = upload.completedAtMilliseconds + engine.settings.tombstoneTTL
        }
        next.answer = FinalResponse.stored(upload)
        return await write(next).map { error in UploadError(error) }
    }
}
