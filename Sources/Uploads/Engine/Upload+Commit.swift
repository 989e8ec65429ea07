internal import Blobs
internal import HTTP
internal import Locking

extension Upload {
    /// Opens the staged file as the record describes it, asks whether the bytes will fit, and takes
    /// their place on the disk where their number is known (§11.7).
    func openFile(for append: Append) async throws(UploadError) -> StagedFile {
        let (engine, name, blob, offset) = (engine, name, blob, record.offset)
        let length = record.length ?? append.total
        let brings = append.bodyLength != 0
        // What moves on takes no place for good.
        let stays = engine.mostStaged(record) == .max
        // What was declared was judged when it was; the rest grows with each request.
        if brings, record.length == nil {
            try await engine.requireQuota(
                of: record.owner.application,
                besidesUploads: append.total.map { total in total - offset } ?? append.bodyLength
                    ?? 1)
        }
        let file: StagedFile?
        do throws(DiskError) {
            file = try await queue.run { () throws(DiskError) in
                if brings { try engine.requireRoom() }
                let file = try engine.blobs.stage(blob)
                let size = try file.size()
                if size < offset { return nil }
                // Bytes nobody ever saw: of a crash, a failed sync or an undone request.
                if size > offset {
                    try file.truncate(to: offset)
                    engine.ledger.withLock { $0.place(name, upTo: offset, from: offset) }
                }
                if brings, stays, let length, length - offset >= Upload.worthPlacing,
                    try file.reserve(offset..<length)
                {
                    engine.ledger.withLock { $0.place(name, upTo: length, from: offset) }
                }
                return file
            }
        } catch {
            throw UploadError(error)
        }
        if let file {
            try await beginMoving()
            return file
        }
        await fail(.storageLost)
        throw .gone
    }

    /// Of fewer bytes the file system finds the place by itself when they are written.
    private static let worthPlacing: Int64 = 8 << 20

    /// Makes a transfer durable and only then visible (§11.1); the order never changes.
    ///
    /// - Returns: What went wrong. The visible state is then as before, and the open file is not to
    ///   be trusted any more.
    func commit(
        _ transfer: Transfer, _ file: StagedFile?, _ edit: (inout UploadRecord) -> Void = { _ in }
    ) async -> DiskError? {
        var next = record
        let hasGrown = transfer.written > record.offset
        next.offset = transfer.written
        next.hashes = transfer.hashes
        if hasGrown {
            let (now, settings) = (engine.clock.now(), engine.settings)
            next.state = .receiving
            next.lastProgressAt = now
            next.expiresAt = min(now + settings.idleTTL, next.createdAt + settings.absoluteTTL)
        }
        edit(&next)
        return await write(next, after: hasGrown ? file : nil)
    }

    /// Replaces the record, durably, after the bytes it speaks of.
    func write(_ next: UploadRecord, after file: StagedFile? = nil) async -> DiskError? {
        let (bytes, recordFile) = (next.bytes, recordFile)
        let began = ContinuousClock.now
        do throws(DiskError) {
            try await queue.run { () throws(DiskError) in
                try file?.commit()
                if recordFile.payload != bytes { try recordFile.write(bytes) }
            }
        } catch {
            return error
        }
        let hasGrown = next.offset > record.offset
        if hasGrown {
            engine.onCommit(UploadDialect.current, ContinuousClock.now - began)
        }
        engine.statistics.withLock { [record] statistics in statistics.count(record, next) }
        record = next
        engine.note(name, next)
        if hasGrown, let mover { await goOnMoving(with: mover) }
        if next.state.isOpen { watch?.committed(next.offset) }
        return nil
    }
}
