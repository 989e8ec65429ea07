internal import HTTP

extension Upload {
    /// Becomes the only writer: the one before is told to stop, commits what it has, lets go.
    ///
    /// The usual cause of a second request is a client whose network changed; its old connection
    /// looks alive for minutes. So the newer request wins, at once.
    ///
    /// - Parameter isWriting: A body is about to be received, of which others may ask how far it is.
    /// - Throws: ``UploadError/locked`` when the old writer does not let go in time.
    func takeTurn(
        _ body: (any RequestBody)? = nil, isWriting: Bool = false
    ) async throws(UploadError) {
        try await takeTurnHere(body)
        guard record.mayExpire else { return }
        do throws(UploadError) {
            try await takeFromOthers(isWriting: isWriting)
        } catch {
            leaveTurn()
            throw error
        }
    }

    /// The same among the requests of this process.
    func takeTurnHere(_ body: (any RequestBody)? = nil) async throws(UploadError) {
        if isTaken {
            interrupt()
            guard await waitForTurn() else { throw .locked }
            engine.count { traffic in traffic.takeovers += 1 }
        }
        isTaken = true
        isInterrupted = false
        holder = body
        // A newer request waits already, or the server stops.
        if !waiting.isEmpty || isStopping { interrupt() }
    }

    /// Hands the turn to whoever waits longest.
    func leaveTurn() {
        holder = nil
        keeper.endWriting()
        reach = nil
        watch = nil
        commits.isEnding = false
        turns += 1
        left.wakeAll()
        // It stays taken when somebody follows, so that nobody steps in between.
        isTaken = waiting.wakeFirst()
    }

    /// Waits until the turn of that number is left.
    func untilLeft(_ turn: Int) async {
        while turns == turn {
            _ = await withCheckedContinuation { continuation in
                left.add(left.number(), continuation)
            }
        }
    }

    /// Tells a running writer to stop because the server does; it answers 503 (§11.10).
    func stop() {
        isStopping = true
        interrupt()
    }

    private func waitForTurn() async -> Bool {
        let number = waiting.number()
        let (clock, limit) = (engine.clock, engine.settings.takeoverWait)
        let timer = Task {
            await clock.sleep(limit)
            waiting.giveUp(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            waiting.add(number, continuation)
        }
    }
}
