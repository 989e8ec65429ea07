import CLinux
import Glibc
import HTTP

/// A connection of an HTTP/1.1 client: it reads requests and sends their responses in order.
///
/// It is used only on its event loop. While idle it owns no memory beyond this object; buffers exist only for
/// a partial request or unsent output.
final class Connection: @unchecked Sendable {
    // Sendable because every use is on the loop; other threads reach it through `loop.perform`.

    /// The state of the connection.
    enum Phase {
        /// Between requests, or inside a request head.
        case head
        /// A handler works on a request.
        case working(Exchange)
        /// The response continues after its head, as long as its handler wants. Meanwhile `bytesToDiscard`
        /// bytes of the request's body are discarded.
        case channel(ConnectionChannel)
        /// The response is queued or sent; `bytesToDiscard` bytes of the request's body are discarded (H92).
        case draining
        /// The last response is being sent; then the connection closes in order (H96).
        case closing
        /// The sending side is shut down; up to `bytesToDiscard` bytes of the peer are discarded (H96).
        case lingering
        /// The connection is closed.
        case closed
    }

    let descriptor: Int32
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

    var phase = Phase.head
    /// The number of bytes still to be discarded, while draining or lingering.
    var bytesToDiscard: Int64 = 0
    /// The number of request heads read so far.
    var requestCount = 0
    /// The incomplete request head; `nil` when heads arrive whole.
    var partialHead: PartialHead?
    /// Received bytes that are not processed yet, from `inputStart` on; empty when there are none.
    var input: [UInt8] = []
    private var inputStart = 0
    var output = SendQueue()
    /// The TLS layer over the socket; `nil` without TLS, and after the sending side was shut down.
    private(set) var secure: SecureSocket?

    /// Whether the socket may have bytes to read. With edge-triggered polling the kernel reports them once.
    var canRead = false
    /// The number of bytes that may still be read in this turn of the loop (H184).
    var readBudget = 0
    /// Whether the peer has announced its end; the next empty read is the end.
    private var peerIsClosing = false
    /// Whether the peer has ended its side.
    private(set) var inputHasEnded = false
    /// Whether the loop reads from this connection in its next turn.
    var isScheduledToRead = false
    /// Whether the connection closes after the current response.
    var mustClose = false
    /// Whether `output` must be flushed, or its end must be handled.
    var wantsFlush = false
    /// Whether the loop flushes this connection at the end of its turn.
    private var isScheduledToFlush = false
    /// Whether a thread of ``FileSender`` uses the descriptor.
    private var isSendingFile = false
    /// The number of blocks of a file that may still be read on the loop.
    private var fileBlockBudget = Connection.blocksPerTurn
    /// Whether the socket became writable while ``FileSender`` still used it.
    private var canWriteAgain = false

    /// The deadline of the current phase, in milliseconds of the loop's clock.
    private var phaseDeadline: Int64 = .max
    /// Set while the socket accepts no more output (H178).
    private var slowPeer: SlowPeerDetector?
    /// The time at which the deadline wheel checks this connection next.
    var wheelTime: Int64 = .max

    init(
        descriptor: Int32, generation: UInt32, peer: PeerAddress, client: AddressCounts.Client?,
        isTrusted: Bool, server: ServerCore, loop: EventLoop, secure: SecureSocket? = nil
    ) {
        self.descriptor = descriptor
        self.generation = generation
        self.peer = peer
        self.client = client
        self.isTrusted = isTrusted
        self.server = server
        self.loop = loop
        self.secure = secure
        // Spreads the maximum age evenly from 0.9 to 1.1 of the setting, so that connections do not end
        // together.
        let part = Int64((generation &* 0x9E37_79B9) >> 16) * 200 / 0xFFFF + 900
        retiresAt = loop.now + loop.configuration.maximumAge * part / 1000
    }

    /// Starts to wait for the first request head (H174) or for the TLS handshake (H168).
    func open() {
        loop.add(self)
        if secure != nil { loop.handshakeBegins(self) }
        let timeout = secure == nil ? nil : configuration.tls?.handshakeTimeout
        setPhaseDeadline(loop.now + (timeout ?? configuration.headerTimeout))
    }

    /// Responds with 503 to a connection above the limit, before reading from it (H181).
    func rejectOverLimit() {
        refuse(
            Refusal(.serviceUnavailable, "H181", "There are as many connections as allowed."))
        flush()
    }

    var configuration: ServerConfiguration { loop.configuration }

    private var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    // MARK: Deadlines

    /// The time at which ``expire()`` must be called.
    var deadline: Int64 { min(phaseDeadline, slowPeer?.deadline ?? .max) }

    /// Sets the deadline of the current phase; `.max` for none.
    func setPhaseDeadline(_ time: Int64) {
        phaseDeadline = time
        if time < wheelTime { loop.schedule(self) }
    }

    /// Records that the socket accepts no more output; the time limits for slow peers start.
    ///
    /// - Parameter sent: The number of bytes it accepted before.
    private func outputBlocked(sent: Int64) {
        if let slowPeer {
            slowPeer.sent += sent
            if sent > 0 { slowPeer.update(unsent: Socket.unsentCount(descriptor), at: loop.now) }
        } else {
            slowPeer = SlowPeerDetector(
                unsent: Socket.unsentCount(descriptor), at: loop.now, configuration)
        }
        if deadline < wheelTime { loop.schedule(self) }
    }

    /// Whether the peer reads too slowly, including what it has read until now.
    private func peerIsTooSlow() -> Bool {
        guard let slowPeer, slowPeer.deadline <= loop.now else { return false }
        slowPeer.update(unsent: Socket.unsentCount(descriptor), at: loop.now)
        if slowPeer.deadline <= loop.now { return true }
        if deadline < wheelTime { loop.schedule(self) }
        return false
    }

    /// Records that all output was sent.
    private func clearSlowPeer() { slowPeer = nil }

    // MARK: Reading

    // Polling is edge-triggered: `canRead` stays set until an empty or short read shows that the socket is empty.

    /// Called by the loop when epoll reports an event.
    func ready(_ events: UInt32) {
        if events & EPOLLERR.rawValue != 0 { return abort("reset") }
        if events & (EPOLLRDHUP.rawValue | EPOLLHUP.rawValue) != 0 {
            peerIsClosing = true
            canRead = true
            secure?.peerIsClosing = true
        }
        if events & EPOLLIN.rawValue != 0 { canRead = true }
        if canRead { secure?.mayHaveData = true }
        if events & EPOLLOUT.rawValue != 0 {
            // If the file sender finds the socket full after this event, it must try once more.
            if isSendingFile { canWriteAgain = true } else if hasOutput { flush() }
        }
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
        while canRead, wantsInput {
            guard readBudget > 0 else { return resumeLater() }
            if case .working(let exchange) = phase, receiveDirectly(exchange) { continue }
            receiveIntoLoopBuffer()
        }
    }

    /// Schedules reading in the next turn, if the socket may have bytes and they can be processed.
    func resumeLater() {
        guard canRead, !isScheduledToRead, wantsInput else { return }
        isScheduledToRead = true
        loop.resumeReading(self)
    }

    /// Whether the current phase can process or buffer more bytes (H81, H185).
    private var wantsInput: Bool {
        if inputHasEnded { return false }
        switch phase {
        case .head: return output.count < Int64(configuration.writeHigh)
        case .working(let exchange):
            if exchange.pendingRead != nil { return true }
            // Between two reads of the handler the body stays in the socket. After the body a little is read
            // ahead, which also detects that the peer has gone.
            return exchange.decoder.isComplete && unprocessedCount < configuration.readAhead
        case .channel(let channel):
            if bytesToDiscard > 0 { return true }
            return channel.framing == .upgraded
                ? channel.takesBytes : unprocessedCount < configuration.readAhead
        case .draining, .lingering: return true
        case .closing, .closed: return false
        }
    }

    /// Whether the next bytes belong to a later request.
    private var readsAhead: Bool {
        switch phase {
        case .working(let exchange): exchange.pendingRead == nil
        case .channel(let channel): bytesToDiscard == 0 && channel.framing != .upgraded
        default: false
        }
    }

    /// The number of received bytes that are not processed yet.
    private var unprocessedCount: Int { input.count - inputStart }

    private func receiveIntoLoopBuffer() {
        var capacity = unsafe min(loop.readBuffer.count, readBudget)
        if readsAhead { capacity = min(capacity, configuration.readAhead - unprocessedCount) }
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
        case EAGAIN: canRead = false
        default:
            if let secure, secure.isBroken { return tlsSessionFailed(secure) }
            abort("reset")
        }
    }

    private func store(_ bytes: Span<UInt8>) {
        if isClosed { return }
        if inputStart > 0 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
        unsafe bytes.withUnsafeBufferPointer { bytes in unsafe input.append(contentsOf: bytes) }
    }

    /// Processes the received bytes that were kept.
    func processInput() {
        guard !input.isEmpty else { return }
        // Moved out of the property, so that it cannot change while it is read.
        let taken = input
        let start = inputStart
        input = []
        inputStart = 0
        let used = start + process(taken.span.extracting(start...))
        if used < taken.count, !isClosed {
            input = taken
            inputStart = used
        }
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
            case .draining:
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
    private func flush() {
        wantsFlush = false
        guard !isSendingFile, !isClosed else { return }
        let before = unsentCount
        switch output.send(to: descriptor, through: secure) {
        case .drained:
            clearSlowPeer()
            returnOutput()
            outputDrained()
        case .blocked:
            outputBlocked(sent: before - unsentCount)
            outputAdvanced()
            resumeLater()
        case .broken: abort("reset")
        case .file(let file, let offset, let length):
            returnOutput()
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
        case .working, .draining, .lingering, .closed: resumeLater()
        }
    }

    // MARK: The loop's buffers

    /// Borrows an output buffer from the loop, unless this connection has one.
    func borrowOutput() {
        if output.bytes.capacity == 0 { loop.borrowOutputBuffer(to: &output.bytes) }
    }

    private func returnOutput() {
        if output.bytes.capacity > 0 { loop.returnOutputBuffer(from: &output.bytes) }
    }

    // MARK: Files

    /// The number of cached blocks of a file that are read on the loop in a row, before other connections get
    /// their turn (H184).
    private static let blocksPerTurn = 4

    private func sendFile(_ file: any FileContent, _ offset: Int64, _ length: Int64) {
        if secure != nil, fileBlockBudget > 0,
            let block = FileSender.readCached(file, offset: offset, length: length)
        {
            fileBlockBudget -= 1
            output.sendFileBlock(block)
            return flush()
        }
        fileBlockBudget = Self.blocksPerTurn
        isSendingFile = true
        canWriteAgain = false
        guard secure == nil else {
            return FileSender.read(file, offset: offset, length: length) { [self] block in
                loop.perform { self.fileSent(block) }
            }
        }
        FileSender.send(file, offset: offset, length: length, to: descriptor) { [self] outcome in
            loop.perform { self.fileSent(outcome) }
        }
    }

    private func fileSent(_ outcome: FileSender.Outcome) {
        isSendingFile = false
        if isClosed { return releaseDescriptor() }
        output.fileAdvanced(by: outcome.count)
        // A deadline that passed meanwhile was not handled.
        if deadline < wheelTime { loop.schedule(self) }
        switch outcome.code {
        case 0:
            if outcome.count > 0 { clearSlowPeer() }
            flush()
        case EAGAIN:
            outputBlocked(sent: outcome.count)
            // The socket may have become writable since the sender's last try; epoll does not report that
            // again.
            if canWriteAgain { flush() } else { resumeLater() }
        // The content is incomplete, so the peer must see a broken connection (H88).
        default: abort("file")
        }
    }

    /// Sends a block of a file that was read for TLS; empty when reading failed.
    private func fileSent(_ block: [UInt8]) {
        isSendingFile = false
        if isClosed { return releaseDescriptor() }
        guard !block.isEmpty else { return abort("file") }
        output.sendFileBlock(block)
        if deadline < wheelTime { loop.schedule(self) }
        flush()
    }

    // MARK: TLS

    /// Receives bytes from the socket or from TLS, with the meaning of `recv`; updates `canRead`.
    @inline(__always)
    func receive(_ start: UnsafeMutableRawPointer?, _ capacity: Int) -> Int {
        guard let secure else {
            let count = unsafe linux_recv(descriptor, start, capacity, 0)
            // After a short read the socket is empty; epoll reports the next bytes.
            if count > 0, count < capacity, !peerIsClosing { canRead = false }
            return count
        }
        return unsafe receive(from: secure, start, capacity)
    }

    private func receive(
        from secure: SecureSocket, _ start: UnsafeMutableRawPointer?, _ capacity: Int
    ) -> Int {
        let wasEstablished = secure.isEstablished
        let count = unsafe secure.receive(start, capacity)
        let code = errno
        if !wasEstablished, secure.isEstablished {
            // The time limit of the first head starts at the end of the handshake (H174).
            setPhaseDeadline(loop.now + configuration.headerTimeout)
        }
        if secure.hasUnsent { wantsFlush = true }
        if count > 0, secure.isDrained { canRead = false }
        errno = code
        return count
    }

    /// Whether the TLS handshake is in progress.
    var isShakingHands: Bool { secure?.isEstablished == false }

    /// The number of unsent bytes, encrypted or not.
    private var unsentCount: Int64 { output.count + Int64(secure?.unsentCount ?? 0) }

    /// Whether there are unsent bytes, encrypted or not.
    private var hasOutput: Bool { !output.isEmpty || secure?.hasUnsent == true }

    /// Ends a connection whose TLS session has failed. An alert has already been sent where TLS defines one.
    private func tlsSessionFailed(_ secure: SecureSocket) {
        self.secure = nil
        if let first = secure.firstByte, (0x41...0x5A).contains(first) {
            // The client uses plain HTTP: respond once in plain text, without a redirect (H169).
            return refuse(Refusal(.badRequest, "H169", "This port is for HTTPS."))
        }
        let last = phase
        phase = .closing
        partialHead = nil
        output = SendQueue()
        clearSlowPeer()
        // Shut down in order, so that the peer can read the alert before a reset discards it (H96).
        shutDown()
        endWork(last, "tls", unsent: 0)
    }

    /// Sends close_notify (H170).
    ///
    /// - Returns: False while it waits for the socket.
    private func closeTLSSession() -> Bool {
        guard let secure else { return true }
        secure.sendCloseNotify()
        guard !secure.hasUnsent else {
            phase = .closing
            outputBlocked(sent: 0)
            return false
        }
        // Bytes received from now on are discarded without decryption.
        self.secure = nil
        canRead = true
        return true
    }

    /// Whether a request is for another host than the certificate that the TLS session uses (H38).
    func isMisdirected(_ fields: Fields) -> Bool {
        guard let secure, secure.choseCertificate, let host = fields["Host"] else { return false }
        let name = host.prefix { character in character != ":" }
        return !secure.isMeant(for: CertificateNames.folded(name))
    }

    // MARK: Ending

    /// Handles that the peer has ended its side.
    private func inputEnded() {
        inputHasEnded = true
        canRead = false
        afterInputEnd()
    }

    /// Ends or continues the current phase after the peer has ended its side (H51, H83).
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
        // The deadline is checked again when the file sender has returned.
        guard !isSendingFile else { return }
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
        case .draining:
            // The peer sends on while the response is not sent completely: send it, then close.
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
        canRead = true
        secure?.mayHaveData = true
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
        guard closeTLSSession() else { return }
        shutdown(descriptor, Int32(SHUT_WR))
        phase = .lingering
        bytesToDiscard = configuration.maximumLinger
        input = []
        inputStart = 0
        setPhaseDeadline(loop.now + (timeout ?? configuration.lingerTimeout))
        resumeLater()
    }

    /// Closes the connection with a reset.
    func abort(_ reason: String) {
        // No close_notify: an incomplete response must look incomplete (H170).
        secure = nil
        var reset = linger(l_onoff: 1, l_linger: 0)
        // If this fails, the connection is closed without a reset.
        _ = unsafe setsockopt(
            descriptor, SOL_SOCKET, SO_LINGER, &reset, socklen_t(MemoryLayout<linger>.size))
        close(reason)
    }

    private func close(_ reason: String) {
        if isClosed { return }
        let (last, unsent) = (phase, output.count)
        if output.isEmpty { secure?.sendCloseNotify() }
        secure = nil
        phase = .closed
        partialHead = nil
        input = []
        inputStart = 0
        output = SendQueue()
        setPhaseDeadline(.max)
        clearSlowPeer()
        loop.remove(self)
        server.connectionClosed(client)
        endWork(last, reason, unsent: unsent)
        // While the file sender uses the descriptor, its number must not be reused.
        if !isSendingFile { releaseDescriptor() }
    }

    /// Ends the work of the phase that was interrupted.
    ///
    /// - Parameter unsent: The number of output bytes that are lost.
    private func endWork(_ last: Phase, _ reason: String, unsent: Int64) {
        switch last {
        case .working(let exchange): endWork(exchange, reason)
        case .channel(let channel): endWork(channel, reason, unsent: unsent)
        default: break
        }
    }

    /// Cancels a request whose connection is closed: the handler gets an error from its body, and its task is
    /// cancelled (H85).
    private func endWork(_ exchange: Exchange, _ reason: String) {
        var record = exchange.record
        record.closing = reason
        record.bytesIn += exchange.received
        report(&record, since: exchange.startedAt)
        exchange.failure = exchange.failure ?? .interrupted
        // An entry that has left the queue gets its slot anyway and releases it then.
        if let queueEntry = exchange.queueEntry { server.handlers.cancelWait(queueEntry) }
        exchange.endRead(.interrupted, at: loop.now)
        exchange.task?.cancel()
        exchange.task = nil
    }

    private func releaseDescriptor() { Glibc.close(descriptor) }
}
