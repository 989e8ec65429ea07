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
        do {
            let upload = try await publish(length)
            if !record.tus.isPartial { try await engine.finisher.finished(upload.content) }
            return await markComplete(upload.content, upload.hashes)
        } catch is ContentRefused {
            await fail(.refused)
            return .refused
        } catch let error as UploadError {
            switch error {
            case .contentMismatch: await fail(.digest)
            case .quotaExceeded: await fail(.quota)
            default: break
            }
            return error
        } catch let error as StorageError {
            guard error.isFinal else { return UploadError(error) }
            await fail(.storageLost)
            return .gone
        } catch {
            return .backend
        }
    }

    /// Makes a content of the bytes once they are known to be right.
    ///
    /// What lies elsewhere in parts can be read only when it is one; until the finisher hears of it
    /// nobody can, and what is wrong goes again.
    private func publish(
        _ length: Int64
    ) async throws -> (content: FinishedUpload, hashes: RunningHashes) {
        // A part of a concatenation stays where it is, and nobody is told.
        let isPart = record.tus.isPartial
        var here = isPart
        if !isPart { here = try await engine.storage.isWhollyStaged(blob) }
        var hashes = record.hashes
        if here { hashes = try await checkedHere(length) }
        if !isPart {
            try await engine.requireQuota(of: record.owner.application, for: length)
            let isHashed = hashes.covered == length
            try await engine.storage.publish(
                Publication(
                    name: blob, size: length, mediaType: record.storedType,
                    sha256: isHashed ? hashes.sha256.digest : nil))
        }
        if !here { hashes = try await checkedElsewhere(length) }
        return (finished(hashes, length, at: engine.clock.now()), hashes)
    }

    /// The digests of bytes on the local disk, when they are those that were declared.
    private func checkedHere(_ length: Int64) async throws -> RunningHashes {
        let hashes: RunningHashes
        do throws(DiskError) {
            hashes = try await wholeHashes(length)
        } catch {
            throw StorageError(error)
        }
        try requireDeclared(hashes, try await sha512Here(length))
        return hashes
    }

    /// The same of a content that is published elsewhere; read only where a digest is behind.
    private func checkedElsewhere(_ length: Int64) async throws -> RunningHashes {
        let wanted = record.declared.sha512 != nil
        let digests = try await engine.digests(
            of: blob, length: length, from: record.hashes, withSHA512: wanted)
        try requireDeclared(digests.hashes, digests.sha512)
        return digests.hashes
    }

    private func requireDeclared(
        _ hashes: RunningHashes, _ sha512: [UInt8]?
    ) throws(UploadError) {
        guard isAsDeclared(hashes), record.declared.sha512 == sha512 else {
            engine.count { traffic in traffic.checksumFailures += 1 }
            throw .contentMismatch
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
    private func sha512Here(_ length: Int64) async throws -> [UInt8]? {
        guard record.declared.sha512 != nil else { return nil }
        let (engine, blob) = (engine, blob)
        do throws(DiskError) {
            return try await queue.run { () throws(DiskError) in
                try engine.sha512(of: blob, length: length)
            }
        } catch {
            throw StorageError(error)
        }
    }

    private func finished(_ hashes: RunningHashes, _ length: Int64, at now: Int64) -> FinishedUpload
    {
        FinishedUpload(
            contentID: record.contentID, owner: record.owner,
            mediaType: record.storedType, size: length,
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
