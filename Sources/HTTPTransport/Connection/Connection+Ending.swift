import CLinux
import Glibc
import HTTP

// The ways in which a connection ends.
extension Connection {
    /// The peer has shut its side.
    func inputEnded() {
        inputHasEnded = true
        canRead = false
        afterInputEnd()
    }

    /// Decides what the peer's end means for what is under way (H51, H83).
    func afterInputEnd() {
        switch phase {
        case .head:
            // Answers to earlier requests leave first.
            guard !hasOutput else { return }
            guard partial != nil || !input.isEmpty else { return close("peer") }
            partial = nil
            refuse(
                Refusal(.badRequest, "H51", "The request ends in the middle of its head."))
        case .working(let exchange):
            if !exchange.decoder.isComplete { fail(exchange, .interrupted) }
            return
        case .line(let line):
            // A content goes on (H83); another protocol has nobody left to speak with.
            guard line.form == .upgraded else { return }
            end(line)
        case .draining:
            mustClose = true
            phase = .closing
        case .closing: break
        case .lingering: return close("peer")
        case .closed: return
        }
        flush()
    }

    /// Called by the loop when the deadline has passed.
    func expire() {
        // The pump looks at the time when it comes back.
        guard !isPumping else { return }
        if peerIsStuck() { return abort("slow reader") }
        guard due <= loop.now else { return }
        switch phase {
        case .head:
            guard partial != nil else { return close("idle") }
            partial = nil
            refuse(
                Refusal(.requestTimeout, "H174", "The request head did not arrive in time."))
            flush()
        case .working(let exchange): workExpired(exchange)
        case .line(let line):
            setDue(.max)
            line.handler.deadlinePassed()
        case .draining:
            // The answer may still be on its way to a peer that goes on sending.
            mustClose = true
            phase = .closing
            setDue(.max)
            flush()
        case .lingering: close("slow")
        case .closing, .closed: break
        }
    }

    /// Stops taking new requests; what has begun is finished (H194, H195).
    func drain() {
        mustClose = true
        if case .line(let line) = phase { return tellStopping(line) }
        guard case .head = phase, partial == nil else { return }
        // A request that is already in the socket was sent before the signal.
        canRead = true
        secure?.mayHold = true
        receive()
        if wantsFlush { flush() }
        endWhenIdle()
    }

    /// Closes a connection that must, unless a request is under way or an answer has not left yet.
    func endWhenIdle() {
        guard case .head = phase, partial == nil, !hasOutput, input.isEmpty else { return }
        // Nothing is refused that it might still be sending: a moment is enough to cross its last.
        shutDown(lingering: min(configuration.lingerTimeout, 100))
    }

    /// Our side is done: shut it, then listen for a while, so that the peer can read the answer
    /// before a reset destroys it (H96).
    ///
    /// - Parameter patience: Milliseconds to listen; `nil` for the server's `lingerTimeout`.
    func shutDown(lingering patience: Int64? = nil) {
        guard !inputHasEnded else { return close("closed") }
        guard leaveSession() else { return }
        shutdown(descriptor, Int32(SHUT_WR))
        phase = .lingering
        left = configuration.maximumLinger
        input = []
        inputStart = 0
        setDue(loop.now + (patience ?? configuration.lingerTimeout))
        resumeLater()
    }

    /// Closes without waiting for anything.
    func abort(_ reason: String) {
        // Without a goodbye: what was cut off must look cut off (H170).
        secure = nil
        var reset = linger(l_onoff: 1, l_linger: 0)
        // Best effort: a plain close does as well.
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
        close(reason)
    }

    func close(_ reason: String) {
        if isClosed { return }
        let (last, unsent) = (phase, output.count)
        if output.isEmpty { secure?.sayGoodbye() }
        secure = nil
        phase = .closed
        partial = nil
        input = []
        inputStart = 0
        output = SendQueue()
        setDue(.max)
        clearStall()
        loop.remove(self)
        server.connectionClosed(client)
        giveUp(last, reason, unsent: unsent)
        // The pump still uses the number: it must not be given to another connection.
        if !isPumping { releaseDescriptor() }
    }

    /// Ends what was under way.
    ///
    /// - Parameter unsent: Octets of the output that are lost.
    func giveUp(_ last: Phase, _ reason: String, unsent: Int64) {
        switch last {
        case .working(let exchange): giveUp(exchange, reason)
        case .line(let line): giveUp(line, reason, unsent: unsent)
        default: break
        }
    }

    /// Nobody waits for the answer any more: the handler hears of it from its body and its task (H85).
    private func giveUp(_ exchange: Exchange, _ reason: String) {
        var record = exchange.record
        record.closing = reason
        record.octetsIn += exchange.received
        report(&record, since: exchange.startedAt)
        exchange.failure = exchange.failure ?? .interrupted
        // Who was called already hears of it when its slot comes.
        if let place = exchange.place { server.handlers.withdraw(place) }
        exchange.stopWaiting(.interrupted, at: loop.now)
        exchange.task?.cancel()
        exchange.task = nil
    }

    func releaseDescriptor() { Glibc.close(descriptor) }
}
