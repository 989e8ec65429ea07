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
        if engine.shared != nil { return try await openSharedFile(brings) }
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

    /// The same where what is staged is a copy, which is made again when it is missing.
    private func openSharedFile(_ brings: Bool) async throws(UploadError) -> StagedFile {
        guard let shared = engine.shared else { throw .backend }
        let engine = engine
        do throws(StorageError) {
            if brings {
                try await shared.work(on: blob) { _ throws(DiskError) in try engine.requireRoom() }
            }
            return try await shared.stage(record, of: blob)
        } catch {
            guard error == .lost else { throw UploadError(error) }
            await fail(.storageLost)
            throw .gone
        }
    }

    /// Of fewer bytes the file system finds the place by itself when they are written.
    private static let worthPlacing: Int64 = 8 << 20

    /// Makes a transfer durable and only then visible (§11.1); the order never changes.
    ///
    /// - Returns: What went wrong. The visible state is then as before, and the open file is not to
    ///   be trusted any more.
    func commit(
        _ transfer: Transfer, _ file: StagedFile?, _ edit: (inout UploadRecord) -> Void = { _ in }
    ) async -> StorageError? {
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
        do throws(StorageError) {
            if hasGrown { next.held = try await keep(file, for: next) }
        } catch {
            return error
        }
        return await write(next, after: hasGrown ? file : nil)
    }

    /// Replaces the record, durably, after the bytes it speaks of.
    func write(_ next: UploadRecord, after file: StagedFile? = nil) async -> StorageError? {
        let began = ContinuousClock.now
        do throws(StorageError) {
            try await keeper.replace(with: next, after: file)
        } catch {
            if error == .fenced {
                letGo()
                // What was put for it is named by nobody.
                await release(from: next.held, to: record.held)
            }
            return error
        }
        let last = record.held
        let hasGrown = next.offset > record.offset
        if hasGrown {
            engine.onCommit(UploadDialect.current, ContinuousClock.now - began)
        }
        engine.statistics.withLock { [record] statistics in statistics.count(record, next) }
        record = next
        engine.note(name, next)
        if hasGrown, let mover { await goOnMoving(with: mover) }
        await release(from: last, to: next.held)
        if next.state.isOpen { watch?.committed(next.offset) }
        return nil
    }
}
