internal import Blobs
internal import HTTP

// Where contents lie elsewhere, bytes move on while more arrive (§10.5).
extension Upload {
    /// Goes on moving what is held, before more comes.
    ///
    /// - Throws: ``UploadError/gone`` when moved bytes are lost; the upload has failed then.
    func beginMoving() async throws(UploadError) {
        // A part of a concatenation is kept here until it is joined.
        guard !record.tus.isPartial, let mover = engine.storage.mover(of: blob) else { return }
        self.mover = mover
        do throws(StorageError) {
            try await mover.known()
        } catch {
            throw UploadError(error)
        }
        if await mover.isLost {
            await fail(.storageLost)
            throw .gone
        }
        await goOnMoving(with: mover)
    }

    /// Tells of what is durable by now.
    func goOnMoving(with mover: PartMover) async {
        await mover.advance(
            to: record.offset, length: record.length,
            mediaType: record.storedType)
    }

    /// Fills a buffer, once there is room for what it will bring.
    func fill(
        _ buffer: inout BodyBuffer, from body: any RequestBody, behind written: Int64,
        of append: Append
    ) async -> BodyEnd? {
        // What nobody may see yet cannot be moved, and waiting would not change that.
        if let mover, !append.isAtomic, !(await hasRoom(for: written, with: mover)) {
            buffer.removeAll()
            return .broken(.stalled)
        }
        return await body.fill(&buffer)
    }

    /// Waits while the store is too far behind, as long as a body may pause; a newcomer ends the wait,
    /// and then the body says so itself.
    private func hasRoom(for written: Int64, with mover: PartMover) async -> Bool {
        if await mover.hasRoom(for: written) || isInterrupted { return true }
        let wait = Task { await mover.waitForRoom(for: written) }
        roomWait = wait
        let (clock, limit) = (engine.clock, engine.settings.bodyIdleTimeout)
        let timer = Task {
            await clock.sleep(limit)
            // Also the end of a timer that nobody needs any more.
            if !Task.isCancelled { wait.cancel() }
        }
        defer {
            timer.cancel()
            roomWait = nil
        }
        return await wait.value || isInterrupted
    }

    /// Tells a running writer to let go.
    func interrupt() {
        isInterrupted = true
        holder?.interrupt()
        roomWait?.cancel()
    }
}
