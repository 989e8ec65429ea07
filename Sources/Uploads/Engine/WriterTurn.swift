internal import HTTP

/// The turn to write to an upload, which one request has at a time.
struct WriterTurn {
    fileprivate(set) var isTaken = false
    /// The body that the holder of the turn receives.
    fileprivate(set) var body: (any RequestBody)?
    /// The writer must stop.
    fileprivate(set) var isInterrupted = false
    /// The server is stopping.
    fileprivate(set) var isStopping = false
    /// From the offset at which the running writer began to the offset it has received up to.
    fileprivate(set) var receivedRange: ClosedRange<Int64>?
    /// The number of turns that have ended.
    fileprivate(set) var number = 0
    fileprivate var observer: AppendRequest.Observer?
    /// Requests that wait for the turn.
    fileprivate var waiting = WaitingList()
    /// Requests that wait for a turn to end without wanting one.
    fileprivate var endWaiters = WaitingList()

    /// Reports the number of durable bytes to the request.
    func committed(_ offset: Int64) { observer?.committed(offset) }
}

extension Upload {
    /// Makes the caller the only writer. A running writer is stopped: it commits what it has received and ends.
    ///
    /// A second request usually comes from a client whose network changed, while its old connection looks alive
    /// for minutes. Therefore the newer request takes over at once.
    ///
    /// - Parameter isWriting: A body is about to be received, and other processes may request its offset.
    /// - Throws: ``UploadError/locked`` when the old writer does not stop in time.
    func takeTurn(
        _ body: (any RequestBody)? = nil, isWriting: Bool = false
    ) async throws(UploadError) {
        try await takeLocalTurn(body)
        guard record.mayExpire else { return }
        do throws(UploadError) {
            try await takeFromOtherProcesses(isWriting: isWriting)
        } catch {
            leaveTurn()
            throw error
        }
    }

    /// Takes the turn among the requests of this process only.
    func takeLocalTurn(_ body: (any RequestBody)? = nil) async throws(UploadError) {
        if turn.isTaken {
            interrupt()
            guard await waitForTurn() else { throw .locked }
            engine.count { traffic in traffic.takeovers += 1 }
        }
        turn.isTaken = true
        turn.isInterrupted = false
        turn.body = body
        // A newer request is waiting already, or the server is stopping.
        if !turn.waiting.isEmpty || turn.isStopping { interrupt() }
    }

    /// Takes the turn without waiting; the caller knows that it is free.
    func takeFreeTurn() { turn.isTaken = true }

    /// Passes the turn to the request that has waited longest.
    func leaveTurn() {
        turn.body = nil
        handle.endWriting()
        turn.receivedRange = nil
        turn.observer = nil
        noteTurnEnd()
        turn.number += 1
        turn.endWaiters.wakeAll()
        // The turn stays taken when a request follows, so that no third one can take it in between.
        turn.isTaken = turn.waiting.wakeFirst()
    }

    /// Begins to receive a body, after all checks have passed.
    func startReceiving(observer: AppendRequest.Observer?) {
        turn.receivedRange = record.offset...record.offset
        turn.observer = observer
        observer?.began(record)
    }

    /// Records up to which offset the running writer has received bytes.
    func noteReceived(upTo offset: Int64) {
        if let start = turn.receivedRange?.lowerBound { turn.receivedRange = start...offset }
    }

    /// The offsets at which a request may begin: those a running writer has received, otherwise the stored offset;
    /// `nil` while a request has the turn that receives no body (§11.4).
    var possibleOffsets: ClosedRange<Int64>? {
        turn.isTaken ? turn.receivedRange : record.offset...record.offset
    }

    /// Stops a running writer.
    func interrupt() {
        turn.isInterrupted = true
        turn.body?.interrupt()
        cancelWaitForSpace()
    }

    /// Stops a running writer because the server stops; it answers 503 (§11.10).
    func stop() {
        turn.isStopping = true
        interrupt()
    }

    /// Waits until the turn of that number has ended.
    func waitForEnd(ofTurn number: Int) async {
        while turn.number == number {
            _ = await withCheckedContinuation { continuation in
                turn.endWaiters.add(turn.endWaiters.number(), continuation)
            }
        }
    }

    private func waitForTurn() async -> Bool {
        let number = turn.waiting.number()
        let (clock, limit) = (engine.clock, engine.settings.takeoverWait)
        let timer = Task {
            await clock.sleep(limit)
            turn.waiting.cancel(number)
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            turn.waiting.add(number, continuation)
        }
    }
}
