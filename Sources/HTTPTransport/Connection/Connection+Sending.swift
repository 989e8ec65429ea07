import Glibc
import HTTP

// From the send queue to the socket.
extension Connection {
    /// Sends what waits, as far as the socket takes it.
    func flush() {
        wantsFlush = false
        guard !isPumping, !isClosed else { return }
        let before = waitingCount
        switch output.send(to: descriptor, through: secure) {
        case .drained:
            clearStall()
            returnOutput()
            outputDrained()
        case .blocked:
            outputStalled(sent: before - waitingCount)
            outputAdvanced()
            resumeLater()
        case .broken: abort("reset")
        case .file(let file, let offset, let length):
            returnOutput()
            pump(file, offset, length)
        }
    }

    /// Flushes at the end of the loop's turn, so that answers which become ready in the same turn
    /// leave together.
    func flushLater() {
        wantsFlush = true
        guard !isQueued else { return }
        isQueued = true
        loop.flushLater(self)
    }

    /// Called by the loop at the end of its turn.
    func turnEnds() {
        isQueued = false
        if case .line(let line) = phase {
            settle(line)
            if case .head = phase { goOnWithNext() }
        }
        if wantsFlush { flush() }
    }

    private func outputDrained() {
        switch phase {
        case .head:
            // A head in progress keeps the deadline of its first octet.
            if partial == nil, requestCount > 0 {
                setDue(loop.now + configuration.keepAliveTimeout)
            }
            if !input.isEmpty {
                // Kept while the output was full.
                consumeInput()
                if wantsFlush { flushLater() }
            }
            if inputHasEnded { afterInputEnd() } else if mustClose { endWhenIdle() }
            resumeLater()
        case .closing: shutDown()
        case .line:
            outputAdvanced()
            resumeLater()
        case .working, .draining, .lingering, .closed: resumeLater()
        }
    }

    // MARK: The loop's buffers

    /// Uses a buffer of the loop's for output, as long as nothing of our own waits.
    func borrowOutput() {
        if output.octets.capacity == 0 { loop.lendOutput(to: &output.octets) }
    }

    private func returnOutput() {
        if output.octets.capacity > 0 { loop.takeOutput(from: &output.octets) }
    }

    // MARK: Files

    /// How many blocks of a file are read on the loop, where that waits for nothing, before the pump has
    /// its turn and with it everybody else (H184).
    static let blocksPerTurn = 4

    private func pump(_ file: any FileContent, _ offset: Int64, _ length: Int64) {
        if secure != nil, blocksLeft > 0,
            let block = FilePump.readCached(file, offset: offset, length: length)
        {
            blocksLeft -= 1
            output.fileWasRead(block)
            return flush()
        }
        blocksLeft = Self.blocksPerTurn
        isPumping = true
        canWriteAgain = false
        guard secure == nil else {
            return FilePump.read(file, offset: offset, length: length) { [self] block in
                loop.perform { self.pumped(block) }
            }
        }
        FilePump.send(file, offset: offset, length: length, to: descriptor) { [self] turn in
            loop.perform { self.pumped(turn) }
        }
    }

    private func pumped(_ turn: FilePump.Turn) {
        isPumping = false
        if isClosed { return releaseDescriptor() }
        output.fileAdvanced(by: turn.count)
        // What became due meanwhile was put off.
        if deadline < wheelTime { loop.schedule(self) }
        switch turn.code {
        case 0:
            if turn.count > 0 { clearStall() }
            flush()
        case EAGAIN:
            outputStalled(sent: turn.count)
            // The socket may have emptied between the pump's last try and now: nobody tells twice.
            if canWriteAgain { flush() } else { resumeLater() }
        // Half a content is worse than none: the peer notices the break (H88).
        default: abort("file")
        }
    }

    /// A block of a file is in memory, on its way through TLS.
    private func pumped(_ block: [UInt8]) {
        isPumping = false
        if isClosed { return releaseDescriptor() }
        guard !block.isEmpty else { return abort("file") }
        output.fileWasRead(block)
        if deadline < wheelTime { loop.schedule(self) }
        flush()
    }
}
