internal import Blobs
internal import Bytes
internal import HTTP
internal import SystemSupport

extension Upload {
    /// The final answer of an upload that takes no more bytes, or why there is none.
    func endedAnswer() async throws(UploadError) -> StoredResponse {
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
            // Those who wait may give up before; another owner would finish the same upload beside
            // this one.
            active.hold(name)
            finalizing = Task {
                fault = await finalize()
                finalizing = nil
                ended.wakeAll()
                active.leave(name)
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
        do throws(StorageError) {
            if isShared, let current = try await keeper.takeToFinish() { record = current }
        } catch {
            return error == .fenced ? .stillFinalizing : UploadError(error)
        }
        guard record.state == .finalizing, let length = record.length else { return nil }
        let beating = Task { await beat() }
        let published = await published(length)
        beating.cancel()
        await beating.value
        do {
            let upload = try published.get()
            return await markComplete(upload.content, upload.hashes)
        } catch is ContentRefused {
            await fail(.refused)
            return .refused
        } catch let error as UploadError {
            switch error {
            case .contentMismatch: await fail(.digest)
            case .quotaExceeded: await fail(.quota)
            case .superseded: return .stillFinalizing
            default: break
            }
            return error
        } catch let error as StorageError {
            if error == .fenced { return .stillFinalizing }
            guard error.isFinal else { return UploadError(error) }
            await fail(.storageLost)
            return .gone
        } catch {
            return .backend
        }
    }

    private func published(
        _ length: Int64
    ) async -> Result<(content: FinishedUpload, hashes: RunningHashes), any Error> {
        do {
            let upload =
                if let shared = engine.shared {
                    try await publish(length, to: shared)
                } else {
                    try await publish(length)
                }
            if !record.tus.isPartial { try await engine.tell(of: upload.content) }
            return .success(upload)
        } catch {
            return .failure(error)
        }
    }

    /// Makes an object of what is held where other processes find it; a part of a concatenation becomes
    /// one, too, so that it can be copied from there.
    private func publish(
        _ length: Int64, to shared: SharedStorage
    ) async throws -> (content: FinishedUpload, hashes: RunningHashes) {
        let isHashed = record.hashes.behind == length
        if isHashed && record.declared.sha512 == nil { try requireDeclared(record.hashes, nil) }
        if !record.tus.isPartial {
            try await engine.requireQuota(
                of: record.owner.application, for: length, besides: record.contentID)
        }
        try await shared.finish(
            record, of: blob, sha256: isHashed ? record.hashes.sha256.digest : nil,
            version: keeper.version)
        let hashes = try await checkedElsewhere(length)
        return (finished(hashes, length, at: engine.clock.now()), hashes)
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
            // Finished before a crash, it counts already.
            try await engine.requireQuota(
                of: record.owner.application, for: length, besides: record.contentID)
            let isHashed = hashes.covered == length
            try await engine.storage.publish(
                StagedContent(
                    name: blob, size: length, mediaType: record.storedType,
                    sha256: isHashed ? hashes.sha256.digest : nil))
        }
        if !here { hashes = try await checkedElsewhere(length) }
        return (finished(hashes, length, at: engine.clock.now()), hashes)
    }

    /// The digests of bytes on the local disk, when they are those that were declared.
    private func checkedHere(_ length: Int64) async throws -> RunningHashes {
        let file: BlobFile
        do throws(DiskError) {
            file = try await wholeFile(length)
        } catch {
            throw StorageError(error)
        }
        return try await checked(.file(file, queue), length)
    }

    /// The same of a content that is published elsewhere; read only where a digest is behind.
    private func checkedElsewhere(_ length: Int64) async throws -> RunningHashes {
        try await checked(try await engine.storage.open(blob), length)
    }

    private func checked(_ content: OpenContent, _ length: Int64) async throws -> RunningHashes {
        let wanted = record.declared.sha512 != nil
        let digests = try await engine.digests(
            of: content, length: length, from: record.hashes, withSHA512: wanted)
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

    /// The file with exactly these bytes, durable.
    private func wholeFile(_ length: Int64) async throws(DiskError) -> BlobFile {
        let (engine, blob) = (engine, blob)
        return try await queue.run { () throws(DiskError) in
            // Published before a crash.
            if try engine.blobs.contains(blob) { return try engine.blobs.open(blob) }
            // Staging makes the file where there is none, which only a content without bytes may need.
            guard try engine.blobs.stagedSize(blob) ?? 0 >= length else {
                throw DiskError(kind: .damaged, operation: "finalize")
            }
            let file = try engine.blobs.stage(blob)
            try file.truncate(to: length)
            try file.commit()
            return try engine.blobs.openStaged(blob)
        }
    }

    private func isAsDeclared(_ hashes: RunningHashes) -> Bool {
        let declared = record.declared
        if let md5 = declared.md5, md5 != hashes.md5?.digest { return false }
        if let crc32c = declared.crc32c, crc32c != hashes.crc32c.value { return false }
        if let sha256 = declared.sha256, sha256 != hashes.sha256.digest { return false }
        return true
    }

    private func finished(_ hashes: RunningHashes, _ length: Int64, at now: Int64) -> FinishedUpload
    {
        FinishedUpload(
            contentID: record.contentID, owner: record.owner,
            mediaType: record.storedType, size: length,
            fileName: record.fileName, sha256: hashes.sha256.digest,
            crc32c: hashes.crc32c.value, md5: hashes.md5?.digest,
            // As declared, or there would be no content.
            sha512: record.declared.sha512,
            completedAtMilliseconds: now, origin: record.origin)
    }

    private func markComplete(
        _ upload: FinishedUpload, _ hashes: RunningHashes
    ) async -> UploadError? {
        var next = record
        next.hashes = hashes
        next.state = .complete
        next.completedAt = upload.completedAtMilliseconds
        next.held = nil
        // A part lives on as long as it would have lived unfinished.
        if !record.tus.isPartial {
            next.expiresAt = upload.completedAtMilliseconds + engine.settings.tombstoneTTL
        }
        next.answer = FinalResponse.stored(upload)
        if let error = await write(next) {
            return error == .fenced ? .stillFinalizing : UploadError(error)
        }
        // Everything is in the object; what cannot be removed now goes with what is left behind.
        if let shared = engine.shared {
            let blob = blob
            try? await shared.work(on: blob) { blobs throws(DiskError) in try blobs.discard(blob) }
        }
        return nil
    }
}
