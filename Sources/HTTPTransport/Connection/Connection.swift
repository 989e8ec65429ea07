import CLinux
import Glibc
import HTTP

/// A connection of an HTTP/1.1 client: it reads requests and sends their responses in order.
///
/// It is used only on its event loop. While idle it owns no memory beyond this object; buffers exist only for
/// a partial request or unsent output.
final class Connection: @unchecked Sendable {
    // Sendable because every use is on the loop; other threads reach it through `loop.perform`.

    var socket: ConnectionSocket
    let generation: UInt32
    let peer: PeerAddress
    /// The client that the connection is counted for (H182).
    private let client: AddressCounts.Client?
    /// Whether the peer is a trusted proxy (H198).
    let isTrusted: Bool
    let server: ServerCore
    let loop: EventLoop
    /// From this time on the next response is the last one (H84).
    let retiresAt: Int64

    var phase = ConnectionPhase.head
    /// The number of bytes still to be discarded, while discarding or lingering.
    var bytesToDiscard: Int64 = 0
    /// The number of request heads read so far.
    var requestCount = 0
    /// The incomplete request head; `nil` when heads arrive whole.
    var partialHead: PartialHead?
    private(set) var input = ReceivedBytes()
    var output = SendQueue()

    /// The number of bytes that may still be read in this turn of the loop (H184).
    var readBudget = 0
    /// Whether the peer has shut down its sending side.
    private(set) var inputHasEnded = false
    /// Whether the loop reads from this connection in its next turn.
    var isScheduledToRead = false
    /// Whether the connection closes after the current response.
    var mustClose = false
    /// Whether `output` must be flushed, or its end must be handled.
    var wantsFlush = false
    /// Whether the loop flushes this connection at the end of its turn.
    private var isScheduledToFlush = false
    var files = FileTransmission()

    /// The deadline of the current phase, in milliseconds of the loop's clock.
    private var phaseDeadline: Int64 = .max
    /// The time at which the deadline wheel checks this connection next.
    var wheelTime: Int64 = .max

    init(
        descriptor: Int32, generation: UInt32, peer: PeerAddress, client: AddressCounts.Client?,
        isTrusted: Bool, server: ServerCore, loop: EventLoop, secure: SecureSocket? = nil
    ) {
        socket = ConnectionSocket(descriptor, secure)
        self.generation = generation
        self.peer = peer
        self.client = client
        self.isTrusted = isTrusted
        self.server = server
        self.loop = loop
        // Spreads the maximum age evenly from 0.9 to 1.1 of the setting, so that connections do not end
        // together.
        let part = Int64((generation &* 0x9E37_79B9) >> 16) * 200 / 0xFFFF + 900
        retiresAt = loop.now + loop.configuration.maximumAge * part / 1000
    }

    /// Starts to wait for the first request head (H174) or for the TLS handshake (H168).
    func open() {
        loop.add(self)
        if socket.secure != nil { loop.handshakeBegins(self) }
        let timeout = socket.secure == nil ? nil : configuration.tls?.handshakeTimeout
        setPhaseDeadline(loop.now + (timeout ?? configuration.headerTimeout))
    }

    /// Responds with 503 to a connection above the limit, before reading from it (H181).
    func rejectOverLimit() {
        refuse(
            Refusal(.serviceUnavailable, "H181", "The server has reached its limit of connections.")
        )
        flush()
    }

    var configuration: ServerConfiguration { loop.configuration }

    // MARK: Deadlines

    /// The time at which ``expire()`` must be called.
    var deadline: Int64 { min(phaseDeadline, socket.slowPeerDeadline) }

    /// Sets the deadline of the current phase; `.max` for none.
    func setPhaseDeadline(_ time: Int64) {
        phaseDeadline = time
        if time < wheelTime { loop.schedule(self) }
    }

    /// Tells the loop when the deadline is earlier than its next check.
    func reschedule() {
        if deadline < wheelTime { loop.schedule(self) }
    }

    /// Records that the socket accepts no more output.
    ///
    /// - Parameter sent: The number of bytes it accepted before.
    func outputBlocked(sent: Int64) {
        socket.outputBlocked(sent: sent, at: loop.now, configuration)
        reschedule()
    }

    /// Whether the peer reads too slowly (H178).
    private func peerIsTooSlow() -> Bool {
        guard socket.slowPeerDeadline <= loop.now else { return false }
        if socket.peerIsTooSlow(at: loop.now) { return true }
        reschedule()
        return false
    }

    // MARK: Reading

    /// Called by the loop when epoll reports an event.
    func ready(_ events: UInt32) {
        if events & EPOLLERR.rawValue != 0 { return abort("reset") }
        socket.inputReported(events)
        if events & EPOLLOUT.rawValue != 0, !files.noteWritable(), hasOutput { flush() }
        receive()
        // Responses are sent together at the end of the turn: reading from many sockets and then writing to
        // many costs 2 % less than alternating.
        if wantsFlush { flushLater() }
    }

    /// Called by the loop in the turn after ``resumeLater()``.
    func resume() {
        isScheduledToRead = false
        if case .channel(let channel) = phase { resumeChannel(channel) }
        receive()
        if wantsFlush { flushLater() }
    }

    /// Reads up to the limit of one turn; the rest is read in the next turn (H184).
    func receive() {
        readBudget = configuration.readPerTurn
        while socket.canRead, wantsInput {
            guard readBudget > 0 else { return resumeLater() }
            if case .working(let exchange) = phase, receiveDirectly(exchange) { continue }
            receiveIntoLoopBuffer()
        }
    }

    /// Schedules reading in the next turn, if the socket may have bytes and they can be processed.
    func resumeLater() {
        guard socket.canRead, !isScheduledToRead, wantsInput else { return }
        isScheduledToRead = true
        loop.resumeReading(self)
    }

    private var wantsInput: Bool {
        !inputHasEnded
            && phase.wantsInput(
                unprocessed: input.count, atMost: configuration.readAhead,
                unsent: output.count, atMost: Int64(configuration.writeHigh),
                isDiscarding: bytesToDiscard > 0)
    }

    private func receiveIntoLoopBuffer() {
        // The loop owns its buffer and outlives the connection; at most its size is received.
        var capacity = unsafe min(loop.readBuffer.count, readBudget)
        if phase.readsAhead(isDiscarding: bytesToDiscard > 0) {
            capacity = min(capacity, configuration.readAhead - input.count)
        }
        let count = unsafe receive(loop.readBuffer.baseAddress, capacity)
        guard count > 0 else { return nothingReceived(count, errno) }
        readBudget -= count
        // Safe: the buffer belongs to the loop and does not change during this turn.
        let bytes = unsafe Span(
            _unsafeElements: UnsafeBufferPointer(rebasing: loop.readBuffer[..<count]))
        if input.isEmpty {
            let used = process(bytes)
            if used < count { store(bytes.extracting(used...)) }
        } else {
            store(bytes)
            processInput()
        }
    }

    /// Handles a read that returned no bytes: the peer's end, an interruption, an empty socket or an error.
    func nothingReceived(_ count: Int, _ code: Int32) {
        if count == 0 { return inputEnded() }
        switch code {
        case EINTR: break
        case EAGAIN: socket.markEmpty()
        default:
            if let secure = socket.secure, secure.isBroken { return tlsSessionFailed(secure) }
            abort("reset")
        }
    }

    private func store(_ bytes: Span<UInt8>) {
        if !phase.isClosed { input.append(bytes) }
    }

    /// Processes the received bytes that were kept.
    func processInput() {
        guard !input.isEmpty else { return }
        // Moved out of the property, so that it cannot change while it is read.
        var taken = input
        input = ReceivedBytes()
        taken.process { bytes in process(bytes) }
        if !taken.isEmpty, !phase.isClosed { input = taken }
    }

    /// Processes bytes from the start, and returns how many; the caller keeps the rest.
    private func process(_ bytes: Span<UInt8>) -> Int {
        var used = 0
        while used < bytes.count {
            switch phase {
            case .head:
                guard output.count < Int64(configuration.writeHigh) else { return used }
                let count = processHead(used == 0 ? bytes : bytes.extracting(used...))
                guard count > 0 else { return used }
                used += count
            case .working(let exchange):
                guard exchange.pendingRead != nil else { return used }
                used += feed(exchange, bytes.extracting(used...))
                if exchange.pendingRead != nil { return used }
            case .channel(let channel):
                if bytesToDiscard > 0 {
                    let count = Int(min(bytesToDiscard, Int64(bytes.count - used)))
                    bytesToDiscard -= Int64(count)
                    used += count
                } else if channel.takesBytes {
                    let rest = bytes.extracting(used...)
                    channel.record.bytesIn += Int64(rest.count)
                    channel.handler.received(rest)
                    return bytes.count
                } else {
                    return used
                }
            case .discarding:
                let count = Int(min(bytesToDiscard, Int64(bytes.count - used)))
                bytesToDiscard -= Int64(count)
                used += count
                if bytesToDiscard == 0 { bodyIsDrained() }
            case .lingering:
                bytesToDiscard -= Int64(bytes.count - used)
                if bytesToDiscard <= 0 { close("lingered") }
                return bytes.count
            case .closing, .closed: return bytes.count
            }
        }
        return used
    }

    // MARK: Sending

    /// Sends the queued output as far as the socket accepts it.
    func flush() {
        wantsFlush = false
        guard !files.isSending, !phase.isClosed else { return }
        let before = unsentCount
        switch output.send(to: socket.descriptor, through: socket.secure) {
        case .drained:
            socket.clearSlowPeer()
            output.returnStorage(to: loop)
            outputDrained()
        case .blocked:
            outputBlocked(sent: before - unsentCount)
            outputAdvanced()
            resumeLater()
        case .broken: abort("reset")
        case .file(let file, let offset, let length):
            output.returnStorage(to: loop)
            sendFile(file, offset, length)
        }
    }

    /// Schedules a flush at the end of the loop's turn, so that responses of the same turn are sent together.
    func flushLater() {
        wantsFlush = true
        guard !isScheduledToFlush else { return }
        isScheduledToFlush = true
        loop.flushLater(self)
    }

    /// Called by the loop at the end of its turn.
    func turnEnded() {
        isScheduledToFlush = false
        if case .channel(let channel) = phase {
            performRequestedAction(channel)
            if case .head = phase { processNextRequest() }
        }
        if wantsFlush { flush() }
    }

    private func outputDrained() {
        switch phase {
        case .head:
            // A partial head keeps the deadline that its first byte has set.
            if partialHead == nil, requestCount > 0 {
                setPhaseDeadline(loop.now + configuration.keepAliveTimeout)
            }
            if !input.isEmpty {
                // These bytes were kept while the output was full.
                processInput()
                if wantsFlush { flushLater() }
            }
            if inputHasEnded { afterInputEnd() } else if mustClose { endWhenIdle() }
            resumeLater()
        case .closing: shutDown()
        case .channel:
            outputAdvanced()
            resumeLater()
        case .working, .discarding, .lingering, .closed: resumeLater()
        }
    }

    // MARK: TLS

    /// Receives bytes from the socket or from TLS, with the meaning of `recv`.
    @inline(__always)
    func receive(_ start: UnsafeMutableRawPointer?, _ capacity: Int) -> Int {
        guard socket.secure != nil else { return unsafe socket.receive(start, capacity) }
        let wasHandshaking = socket.isHandshaking
        let count = unsafe socket.receive(start, capacity)
        let code = errno
        if wasHandshaking, !socket.isHandshaking {
            // The time limit of the first head starts at the end of the handshake (H174).
            setPhaseDeadline(loop.now + configuration.headerTimeout)
        }
        if socket.hasUnsent { wantsFlush = true }
        errno = code
        return count
    }

    /// The number of unsent bytes, encrypted or not.
    private var unsentCount: Int64 { output.count + socket.unsentCount }

    /// Whether there are unsent bytes, encrypted or not.
    private var hasOutput: Bool { !output.isEmpty || socket.hasUnsent }

    /// Ends a connection whose TLS session has failed. An alert has already been sent where TLS defines one.
    private func tlsSessionFailed(_ secure: SecureSocket) {
        socket.dropTLS()
        if let first = secure.firstByte, (0x41...0x5A).contains(first) {
            // The client uses plain HTTP: respond once in plain text, without a redirect (H169).
            return refuse(Refusal(.badRequest, "H169", "This port is for HTTPS."))
        }
        let last = phase
        phase = .closing
        partialHead = nil
        output = SendQueue()
        socket.clearSlowPeer()
        // Shut down in order, so that the peer can read the alert before a reset discards it (H96).
        shutDown()
        endWork(last, "tls", unsent: 0)
    }

    // MARK: Ending

    /// Called when the peer has shut down its sending side.
    private func inputEnded() {
        inputHasEnded = true
        socket.markEmpty()
        afterInputEnd()
    }

    /// Ends or continues the current phase after the peer has shut down its sending side (H51, H83).
    func afterInputEnd() {
        switch phase {
        case .head:
            // Responses to earlier requests are sent first.
            guard !hasOutput else { return }
            guard partialHead != nil || !input.isEmpty else { return close("peer") }
            partialHead = nil
            refuse(
                Refusal(.badRequest, "H51", "The request ends in the middle of its head."))
        case .working(let exchange):
            if !exchange.decoder.isComplete { fail(exchange, .interrupted) }
            return
        case .channel(let channel):
            // A response continues (H83); an upgraded protocol ends with its peer.
            guard channel.framing == .upgraded else { return }
            end(channel)
        case .discarding:
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
        // The deadline is checked again when the file sender has returned.
        guard !files.isSending else { return }
        if peerIsTooSlow() { return abort("slow reader") }
        guard phaseDeadline <= loop.now else { return }
        switch phase {
        case .head:
            guard partialHead != nil else { return close("idle") }
            partialHead = nil
            refuse(
                Refusal(.requestTimeout, "H174", "The request head did not arrive in time."))
            flush()
        case .working(let exchange): workExpired(exchange)
        case .channel(let channel):
            setPhaseDeadline(.max)
            channel.handler.deadlinePassed()
        case .discarding:
            // The peer continues to send before the whole response is sent: send the rest, then close.
            mustClose = true
            phase = .closing
            setPhaseDeadline(.max)
            flush()
        case .lingering: close("slow")
        case .closing, .closed: break
        }
    }

    /// Stops accepting requests; requests in progress are finished (H194, H195).
    func drain() {
        mustClose = true
        if case .channel(let channel) = phase { return notifyStopping(channel) }
        guard case .head = phase, partialHead == nil else { return }
        // A request that is already in the socket was sent before the server began to stop.
        socket.expectInput()
        receive()
        if wantsFlush { flush() }
        endWhenIdle()
    }

    /// Closes the connection if nothing is in progress: no request, no unsent response.
    private func endWhenIdle() {
        guard case .head = phase, partialHead == nil, !hasOutput, input.isEmpty else { return }
        // No request was refused, so a short time is enough for bytes that are on their way.
        shutDown(lingering: min(configuration.lingerTimeout, 100))
    }

    /// Shuts down the sending side, then reads and discards for a while, so that the peer can read the last
    /// response before a reset discards it (H96).
    ///
    /// - Parameter timeout: Milliseconds to read; `nil` for the server's `lingerTimeout`.
    private func shutDown(lingering timeout: Int64? = nil) {
        guard !inputHasEnded else { return close("closed") }
        guard socket.endTLS() else {
            phase = .closing
            return outputBlocked(sent: 0)
        }
        socket.shutDown()
        phase = .lingering
        bytesToDiscard = configuration.maximumLinger
        input = ReceivedBytes()
        setPhaseDeadline(loop.now + (timeout ?? configuration.lingerTimeout))
        resumeLater()
    }

    /// Closes the connection with a reset.
    func abort(_ reason: String) {
        socket.resetOnClose()
        close(reason)
    }

    private func close(_ reason: String) {
        if phase.isClosed { return }
        let (last, unsent) = (phase, output.count)
        if output.isEmpty { socket.secure?.sendCloseNotify() }
        socket.dropTLS()
        phase = .closed
        partialHead = nil
        input = ReceivedBytes()
        output = SendQueue()
        setPhaseDeadline(.max)
        socket.clearSlowPeer()
        loop.remove(self)
        server.connectionClosed(client)
        endWork(last, reason, unsent: unsent)
        // While the file sender uses the descriptor, its number must not be reused.
        if !files.isSending { socket.close() }
    }

    /// Ends the work of the phase that was interrupted.
    ///
    /// - Parameter unsent: The number of output bytes that are lost.
    private func endWork(_ last: ConnectionPhase, _ reason: String, unsent: Int64) {
        switch last {
        case .working(let exchange): endWork(exchange, reason)
        case .channel(let channel): endWork(channel, reason, unsent: unsent)
        default: break
        }
    }
}
