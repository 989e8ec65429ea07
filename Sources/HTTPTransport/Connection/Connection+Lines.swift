import HTTP

// What goes on after the head of an answer: contents of unknown length, and other protocols.
extension Connection {
    /// Hands the rest of an answer, whose head is queued, to its handler.
    ///
    /// - Parameter left: How many octets of the request's body nobody read; thrown away meanwhile.
    func open(_ line: OpenLine, left: Int64) {
        phase = .line(line)
        self.left = left
        setDue(.max)
        line.handler.opened(line)
        if server.isDraining { tellStopping(line) }
        // What it sent at once leaves together with the head (H87, H151).
        settle(line)
    }

    /// Does what the handler asked for in this turn.
    func settle(_ line: OpenLine) {
        if line.wish == .abort { return abort("aborted") }
        queueWaiting(of: line)
        switch line.wish {
        case .goOn: return
        case .finish where line.isWhole: end(line)
        case .finish, .abort: abort("aborted")
        }
    }

    /// Puts what the line was given into the output, framed.
    func queueWaiting(of line: OpenLine) {
        let octets = line.takeWaiting()
        guard !octets.isEmpty else { return }
        let before = output.count
        if line.form == .chunks {
            borrowOutput()
            output.append(ChunkFraming.head(octets.count))
            output.append(octets)
            output.append(ChunkFraming.end)
        } else {
            output.append(octets)
        }
        line.record.octetsOut += output.count - before
        wantsFlush = true
    }

    /// Goes on with the line in the next turn, so that its handler is not called from its own call.
    func goOnLater() {
        guard !isResumed else { return }
        isResumed = true
        loop.resumeReading(self)
    }

    /// Called by the loop: tells of room, and hands over what was kept back.
    func goOn(_ line: OpenLine) {
        if hasRoom { line.tellDrained() }
        if line.takesOctets { consumeInput() }
    }

    /// Some of the output has left.
    func outputAdvanced() {
        if case .line(let line) = phase, line.isFull, hasRoom { goOnLater() }
    }

    private var hasRoom: Bool { output.count <= Int64(configuration.writeLow) }

    /// The server stops; said once (H194).
    func tellStopping(_ line: OpenLine) {
        guard !line.isStopping else { return }
        line.isStopping = true
        line.handler.stopping()
    }

    /// The line is at its end: a content is complete, the other protocol is done.
    func end(_ line: OpenLine) {
        queueWaiting(of: line)
        if line.form == .chunks {
            borrowOutput()
            output.append(ChunkFraming.last)
            line.record.octetsOut += Int64(ChunkFraming.last.count)
        }
        if line.form == .upgraded { mustClose = true }
        wantsFlush = true
        report(&line.record, since: line.startedAt)
        conclude(left: left)
        line.close()
    }

    /// The connection broke.
    ///
    /// - Parameter unsent: Octets that are lost with it.
    func giveUp(_ line: OpenLine, _ reason: String, unsent: Int64) {
        line.record.octetsOut = max(line.record.octetsOut - unsent, 0)
        line.record.closing = reason
        report(&line.record, since: line.startedAt)
        line.close()
    }
}
