internal import SystemSupport

/// The task that finishes an upload; at most one runs at a time.
struct UploadFinishing {
    fileprivate var task: Task<Void, Never>?
    /// Requests that wait for the task.
    fileprivate var waiting = WaitingList()
    /// Why the last task failed.
    fileprivate var error: UploadError?

    var isRunning: Bool { task != nil }
}

extension Upload {
    /// The final response of an upload that accepts no more bytes, or why there is none.
    func endedAnswer() async throws(UploadError) -> StoredFinalResponse {
        if record.state == .finalizing {
            guard await finish() else { throw .stillFinalizing }
            if let error = finishing.error { throw error }
        }
        guard record.state == .complete, let answer = record.answer else { throw .gone }
        return answer
    }

    /// Finishes the upload, or waits for the task that does; `false` when it takes too long.
    func finish() async -> Bool {
        if !finishing.isRunning {
            finishing.error = nil
            // The requests that wait may time out earlier; without this a second `Upload` could be created and
            // finish the same upload at the same time.
            active.hold(name)
            finishing.task = Task {
                finishing.error = await finalize()
                finishing.task = nil
                finishing.waiting.wakeAll()
                active.leave(name)
            }
        }
        let number = finishing.waiting.number()
        let (clock, limit) = (engine.clock, engine.settings.finalizeWait)
        let timer = Task {
            await clock.sleep(limit)
            finishing.waiting.cancel(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            finishing.waiting.add(number, continuation)
        }
    }

    /// Cancels the running task because another process has taken over.
    func cancelFinishing() { finishing.task?.cancel() }

    /// Checks digests, publishes, calls the finisher and marks the record; every step may be repeated after a
    /// crash (§11.1).
    ///
    /// - Returns: The error for the waiting requests, or `nil`. After an error the upload has either failed, or is
    ///   still finalizing and retried by the next request.
    private func finalize() async -> UploadError? {
        do throws(StorageError) {
            if isShared, let current = try await handle.takeToFinish() { adopt(current) }
        } catch {
            return error == .fenced ? .stillFinalizing : UploadError(error)
        }
        guard record.state == .finalizing, let length = record.length else { return nil }
        let beating = Task { await renewClaim() }
        let outcome = await UploadPublisher(
            engine: engine, record: record, blob: staging.blob, queue: queue,
            version: handle.version
        ).run(length)
        beating.cancel()
        await beating.value
        switch outcome {
        case .published(let upload, let hashes): return await markComplete(upload, hashes)
        case .failed(let reason, let error):
            await fail(reason)
            return error
        case .unfinished(let error): return error
        }
    }

    private func markComplete(
        _ upload: FinishedUpload, _ hashes: RunningHashes
    ) async -> UploadError? {
        var next = record
        next.complete(upload, hashes, engine.settings)
        if let error = await write(next) {
            return error == .fenced ? .stillFinalizing : UploadError(error)
        }
        await staging.discardCopy()
        return nil
    }

    /// Waits until no request writes and the upload is not being finished.
    func waitUntilIdle() async {
        // While the server stops no other request waits, so this gets the turn or the caller's deadline ends.
        guard (try? await takeLocalTurn()) != nil else { return }
        leaveTurn()
        if record.state == .finalizing && finishing.isRunning { _ = await finish() }
    }
}
