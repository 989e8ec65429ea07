internal import Blobs
internal import Locking

extension Upload {
    /// Ends the upload for a client that no longer wants it (§5.10).
    func cancel() async throws(UploadError) {
        try await takeTurn()
        defer { leaveTurn() }
        if record.state == .finalizing {
            guard await finish() else { throw .stillFinalizing }
        }
        if record.state == .complete { try await takeFromOthers() }
        if record.state == .complete && !record.isKeptPart {
            do {
                guard try await engine.finisher.withdraw(record.contentID) else {
                    throw UploadError.inUse
                }
            } catch let error as UploadError {
                throw error
            } catch {
                throw .backend
            }
        } else if !record.mayExpire || record.expiresAt <= engine.clock.now() {
            throw .gone
        }
        if let fault = await bury(as: .cancelled) { throw UploadError(fault) }
    }

    /// Ends an upload that cannot come to a content any more.
    func fail(_ reason: FailureReason) async {
        record.failure = reason
        // Not durable means that recovery finds the same reason again.
        _ = await bury(as: .failed)
    }

    /// Ends an upload whose time is up; `false` when somebody deals with it.
    func expire() async -> Bool {
        guard isExpired else { return false }
        isTaken = true
        defer { leaveTurn() }
        guard (try? await takeFromOthers()) != nil, record.mayExpire,
            record.expiresAt <= engine.clock.now()
        else { return false }
        return await bury(as: .expired) == nil
    }

    /// Deletes the bytes, then leaves a small record of how it ended.
    ///
    /// In this order a crash in between leaves an upload without bytes, which recovery fails; the
    /// other way it would leave bytes without an upload.
    private func bury(as state: UploadState) async -> StorageError? {
        let (engine, blob) = (engine, blob)
        do throws(DiskError) {
            try await queue.run { () throws(DiskError) in try engine.blobs.discard(blob) }
        } catch {
            return .disk(error)
        }
        do throws(StorageError) {
            if !record.state.isOpen { _ = try await engine.storage.erase(blob) }
        } catch {
            return error
        }
        engine.storage.giveUp(blob)
        var next = record
        next.state = state
        next.answer = nil
        next.expiresAt = engine.clock.now() + engine.settings.tombstoneTTL
        next.held = nil
        let upload = record.held?.upload
        if let error = await write(next) { return error }
        // Only now: whoever is not the last to have taken it must not end what others go on with.
        if let upload { await engine.shared?.abort(upload, of: blob) }
        return nil
    }
}
