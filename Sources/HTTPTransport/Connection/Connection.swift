import CLinux
import Glibc
import HTTP

/// One connection: heads in, answers out, in order.
///
/// Confined to its loop. It owns memory only for a partial request or unsent output; while idle it is
/// this object alone. What it does lies in rooms of its own: reading, requests, bodies, answers,
/// sending, ending.
final class Connection: @unchecked Sendable {
    // Sendable because every use is on the loop; other threads reach it through `loop.perform`.

    /// What the connection is about.
    enum Phase {
        /// Between requests, or inside a head.
        case head
        /// A handler works.
        case working(Exchange)
        /// The answer goes on after its head, as long as its handler likes; `left` bytes of the
        /// request's body are thrown away meanwhile.
        case line(ConnectionChannel)
        /// The answer is out or on its way; `left` bytes of the request's body are thrown away (H92).
        case draining
        /// The last answer is on its way, then comes the orderly close (H96).
        case closing
        /// Our side is shut; up to `left` bytes that the peer still sends are thrown away (H96).
        case lingering
        /// Gone.
        case closed
    }

    let descriptor: Int32
    let generation: UInt32
    let peer: PeerAddress
    /// Whom the connection is counted for (H182).
    let client: AddressCounts.Client?
    /// The peer is a proxy that is believed (H198).
    let isTrusted: Bool
    let server: ServerCore
    let loop: EventLoop
    /// From when on the next answer is the last one (H84).
    let retiresAt: Int64

    var phase = Phase.head
    /// Bytes that are still to be thrown away, while draining or lingering.
    var left: Int64 = 0
    /// How many heads were read.
    var requestCount = 0
    /// The head in progress, when it did not arrive whole.
    var partial: PartialHead?
    /// Bytes that came and are not used yet, from `inputStart` on; empty when all are used.
    var input: [UInt8] = []
    var inputStart = 0
    var output = SendQueue()
    /// TLS between the socket and everything else; gone when our side is shut.
    var secure: SecureSocket?

    /// The socket may hold bytes that were not read yet: the kernel tells of them once.
    var canRead = false
    /// How many bytes may still be read in this turn (H184).
    var readBudget = 0
    /// The peer's end has been announced: the next empty read is it.
    var peerIsClosing = false
    /// The peer will send nothing more.
    var inputHasEnded = false
    /// The loop reads from this connection in its next turn.
    var isScheduledToRead = false
    /// The next answer is the last one, or no answer will follow at all.
    var mustClose = false
    /// Something was written to `output`, or its end is to be noticed.
    var wantsFlush = false
    /// The loop flushes this connection at the end of its turn.
    var isScheduledToFlush = false
    /// A thread of the pump uses the descriptor.
    var isSendingFile = false
    /// How many blocks of a file may still be read on the loop.
    var fileBlockBudget = Connection.blocksPerTurn
    /// The socket took bytes again while the pump was still at it.
    var canWriteAgain = false

    /// When what the phase waits for is overdue, in the loop's milliseconds.
    private(set) var due: Int64 = .max
    /// Set while the socket takes no more of the output (H178).
    private var slowPeer: SlowPeerDetector?
    /// When the wheel asks for the deadline next.
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
        // Between nine and eleven tenths of the age, evenly over the connections in their order.
        let part = Int64((generation &* 0x9E37_79B9) >> 16) * 200 / 0xFFFF + 900
        retiresAt = loop.now + loop.configuration.maximumAge * part / 1000
    }

    /// Begins to wait for the first request (H174: its head is due from now on), or for a hello (H168).
    func open() {
        loop.add(self)
        if secure != nil { loop.handshakeBegins(self) }
        let patience = secure == nil ? nil : configuration.tls?.handshakeTimeout
        setPhaseDeadline(loop.now + (patience ?? configuration.headerTimeout))
    }

    /// Ends a connection for which there is no room, before anything of it is read (H181).
    func rejectOverLimit() {
        refuse(
            Refusal(.serviceUnavailable, "H181", "There are as many connections as allowed."))
        flush()
    }

    var configuration: ServerConfiguration { loop.configuration }

    var isClosed: Bool {
        if case .closed = phase { true } else { false }
    }

    // MARK: Deadlines

    /// When ``expire()`` is to be called.
    var deadline: Int64 { min(due, slowPeer?.due ?? .max) }

    /// Says until when the phase may last; `.max` for as long as it likes.
    func setPhaseDeadline(_ time: Int64) {
        due = time
        if time < wheelTime { loop.schedule(self) }
    }

    /// The socket takes no more: from now on the peer's time runs.
    ///
    /// - Parameter sent: What it took before it was full.
    func outputBlocked(sent: Int64) {
        if let slowPeer {
            slowPeer.sent += sent
            if sent > 0 { slowPeer.look(unsent: Socket.unsentCount(descriptor), at: loop.now) }
        } else {
            slowPeer = SlowPeerDetector(
                unsent: Socket.unsentCount(descriptor), at: loop.now, configuration)
        }
        if deadline < wheelTime { loop.schedule(self) }
    }

    /// Whether the peer's time is up, what it took since the last look included.
    func peerIsTooSlow() -> Bool {
        guard let slowPeer, slowPeer.due <= loop.now else { return false }
        slowPeer.look(unsent: Socket.unsentCount(descriptor), at: loop.now)
        if slowPeer.due <= loop.now { return true }
        if deadline < wheelTime { loop.schedule(self) }
        return false
    }

    /// Everything has left.
    func clearSlowPeer() { slowPeer = nil }
}

// From the socket to whoever uses the bytes. Edge-triggered: what the kernel has told once is kept
// in `canRead` until an empty or short read proves the socket empty.
extension Connection {
    /// Called by the loop when the kernel tells of a change.
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
            // The pump may find the socket full only after this: then it must try once more.
            if isSendingFile { canWriteAgain = true } else if hasOutput { flush() }
        }
        receive()
        // Answers leave together at the end of the turn: to read from one socket after another and
        // then write to one after another costs 2 % less than both by turns.
        if wantsFlush { flushLater() }
    }

    /// Called by the loop for a connection that could not use everything at once.
    func resume() {
        isScheduledToRead = false
        if case .line(let line) = phase { goOn(line) }
        receive()
        if wantsFlush { flushLater() }
    }

    /// Reads as much as belongs to one turn; what is left waits for the next one (H184).
    func receive() {
        readBudget = configuration.readPerTurn
        while canRead, wantsInput {
            guard readBudget > 0 else { return resumeLater() }
            if case .working(let exchange) = phase, receiveDirectly(exchange) { continue }
            receiveIntoLoopBuffer()
        }
    }

    /// Reads later what is there already, because it is welcome now.
    func resumeLater() {
        guard canRead, !isScheduledToRead, wantsInput else { return }
        isScheduledToRead = true
        loop.resumeReading(self)
    }

    /// Whether more bytes are welcome (H81, H185).
    private var wantsInput: Bool {
        if inputHasEnded { return false }
        switch phase {
        case .head: return output.count < Int64(configuration.writeHigh)
        case .working(let exchange):
            if exchange.pending != nil { return true }
            // Between two reads the body stays in the socket; behind it a little is read ahead, which
            // is also how a peer that goes away is noticed.
            return exchange.decoder.isComplete && keptCount < configuration.readAhead
        case .line(let line):
            if left > 0 { return true }
            return line.form == .upgraded
                ? line.takesBytes : keptCount < configuration.readAhead
        case .draining, .lingering: return true
        case .closing, .closed: return false
        }
    }

    /// Whether what comes now belongs to a later request.
    private var readsAhead: Bool {
        switch phase {
        case .working(let exchange): exchange.pending == nil
        case .line(let line): left == 0 && line.form != .upgraded
        default: false
        }
    }

    /// How many bytes came and are not used yet.
    var keptCount: Int { input.count - inputStart }

    private func receiveIntoLoopBuffer() {
        var room = unsafe min(loop.readBuffer.count, readBudget)
        if readsAhead { room = min(room, configuration.readAhead - keptCount) }
        let count = unsafe receive(loop.readBuffer.baseAddress, room)
        guard count > 0 else { return nothingReceived(count, errno) }
        readBudget -= count
        // The buffer is the loop's and stays as it is until this turn ends.
        let bytes = unsafe Span(
            _unsafeElements: UnsafeBufferPointer(rebasing: loop.readBuffer[..<count]))
        if input.isEmpty {
            let used = consume(bytes)
            if used < count { keep(bytes.extracting(used...)) }
        } else {
            keep(bytes)
            consumeInput()
        }
    }

    /// A read that brought nothing: the end, an interruption, an empty socket, or a break.
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

    private func keep(_ bytes: Span<UInt8>) {
        if isClosed { return }
        if inputStart > 0 {
            input.removeFirst(inputStart)
            inputStart = 0
        }
        unsafe bytes.withUnsafeBufferPointer { bytes in unsafe input.append(contentsOf: bytes) }
    }

    /// Goes on with the bytes that are kept.
    func consumeInput() {
        guard !input.isEmpty else { return }
        // Taken out, so that nobody changes what is being read.
        let taken = input
        let start = inputStart
        input = []
        inputStart = 0
        let used = start + consume(taken.span.extracting(start...))
        if used < taken.count, !isClosed {
            input = taken
            inputStart = used
        }
    }

    /// Uses bytes from the front, and says how many; the rest is kept by the caller.
    private func consume(_ bytes: Span<UInt8>) -> Int {
        var used = 0
        while used < bytes.count {
            switch phase {
            case .head:
                guard output.count < Int64(configuration.writeHigh) else { return used }
                let count = takeHead(used == 0 ? bytes : bytes.extracting(used...))
                guard count > 0 else { return used }
                used += count
            case .working(let exchange):
                guard exchange.pending != nil else { return used }
                used += feed(exchange, bytes.extracting(used...))
                if exchange.pending != nil { return used }
            case .line(let line):
                if left > 0 {
                    let count = Int(min(left, Int64(bytes.count - used)))
                    left -= Int64(count)
                    used += count
                } else if line.takesBytes {
                    let rest = bytes.extracting(used...)
                    line.record.bytesIn += Int64(rest.count)
                    line.handler.received(rest)
                    return bytes.count
                } else {
                    return used
                }
            case .draining:
                let count = Int(min(left, Int64(bytes.count - used)))
                left -= Int64(count)
                used += count
                if left == 0 { bodyIsDrained() }
            case .lingering:
                left -= Int64(bytes.count - used)
                if left <= 0 { close("lingered") }
                return bytes.count
            case .closing, .closed: return bytes.count
            }
        }
        return used
    }
}

// From the send queue to the socket.
extension Connection {
    /// Sends what waits, as far as the socket takes it.
    func flush() {
        wantsFlush = false
        guard !isSendingFile, !isClosed else { return }
        let before = waitingCount
        switch output.send(to: descriptor, through: secure) {
        case .drained:
            clearSlowPeer()
            returnOutput()
            outputDrained()
        case .blocked:
            outputBlocked(sent: before - waitingCount)
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
        guard !isScheduledToFlush else { return }
        isScheduledToFlush = true
        loop.flushLater(self)
    }

    /// Called by the loop at the end of its turn.
    func turnEnds() {
        isScheduledToFlush = false
        if case .line(let line) = phase {
            settle(line)
            if case .head = phase { processNextRequest() }
        }
        if wantsFlush { flush() }
    }

    private func outputDrained() {
        switch phase {
        case .head:
            // A head in progress keeps the deadline of its first byte.
            if partial == nil, requestCount > 0 {
                setPhaseDeadline(loop.now + configuration.keepAliveTimeout)
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
        if output.bytes.capacity == 0 { loop.borrowOutputBuffer(to: &output.bytes) }
    }

    private func returnOutput() {
        if output.bytes.capacity > 0 { loop.returnOutputBuffer(from: &output.bytes) }
    }

    // MARK: Files

    /// How many blocks of a file are read on the loop, where that waits for nothing, before the pump has
    /// its turn and with it everybody else (H184).
    static let blocksPerTurn = 4

    private func pump(_ file: any FileContent, _ offset: Int64, _ length: Int64) {
        if secure != nil, fileBlockBudget > 0,
            let block = FileSender.readCached(file, offset: offset, length: length)
        {
            fileBlockBudget -= 1
            output.fileWasRead(block)
            return flush()
        }
        fileBlockBudget = Self.blocksPerTurn
        isSendingFile = true
        canWriteAgain = false
        guard secure == nil else {
            return FileSender.read(file, offset: offset, length: length) { [self] block in
                loop.perform { self.pumped(block) }
            }
        }
        FileSender.send(file, offset: offset, length: length, to: descriptor) { [self] turn in
            loop.perform { self.pumped(turn) }
        }
    }

    private func pumped(_ turn: FileSender.Turn) {
        isSendingFile = false
        if isClosed { return releaseDescriptor() }
        output.fileAdvanced(by: turn.count)
        // What became due meanwhile was put off.
        if deadline < wheelTime { loop.schedule(self) }
        switch turn.code {
        case 0:
            if turn.count > 0 { clearSlowPeer() }
            flush()
        case EAGAIN:
            outputBlocked(sent: turn.count)
            // The socket may have emptied between the pump's last try and now: nobody tells twice.
            if canWriteAgain { flush() } else { resumeLater() }
        // Half a content is worse than none: the peer notices the break (H88).
        default: abort("file")
        }
    }

    /// A block of a file is in memory, on its way through TLS.
    private func pumped(_ block: [UInt8]) {
        isSendingFile = false
        if isClosed { return releaseDescriptor() }
        guard !block.isEmpty else { return abort("file") }
        output.fileWasRead(block)
        if deadline < wheelTime { loop.schedule(self) }
        flush()
    }
}

// What TLS changes for a connection: where bytes come from and go to, and how it begins and breaks.
extension Connection {
    /// `recv`, through TLS where there is any; whether more may be there is noted in `canRead`.
    @inline(__always)
    func receive(_ start: UnsafeMutableRawPointer?, _ room: Int) -> Int {
        guard let secure else {
            let count = unsafe linux_recv(descriptor, start, room, 0)
            // A short read has emptied the socket: the next bytes will be announced.
            if count > 0, count < room, !peerIsClosing { canRead = false }
            return count
        }
        return unsafe receive(from: secure, start, room)
    }

    private func receive(
        from secure: SecureSocket, _ start: UnsafeMutableRawPointer?, _ room: Int
    ) -> Int {
        let wasEstablished = secure.isEstablished
        let count = unsafe secure.receive(start, room)
        let code = errno
        if !wasEstablished, secure.isEstablished {
            // The first head is due from the end of the handshake (H174).
            setPhaseDeadline(loop.now + configuration.headerTimeout)
        }
        if secure.hasUnsent { wantsFlush = true }
        if count > 0, secure.isDrained { canRead = false }
        errno = code
        return count
    }

    /// TLS has begun, and its handshake is not over.
    var isShakingHands: Bool { secure?.isEstablished == false }

    /// How many bytes wait for the socket, encrypted or not yet.
    var waitingCount: Int64 { output.count + Int64(secure?.unsentCount ?? 0) }

    /// Whether something waits for the socket, encrypted or not yet.
    var hasOutput: Bool { !output.isEmpty || secure?.hasUnsent == true }

    /// The session is beyond repair; where TLS has words for it, they have been sent.
    func tlsSessionFailed(_ secure: SecureSocket) {
        self.secure = nil
        if let first = secure.firstByte, (0x41...0x5A).contains(first) {
            // Somebody speaks HTTP: one answer in plain text, and no way to anywhere (H169).
            return refuse(Refusal(.badRequest, "H169", "This port is for HTTPS."))
        }
        let last = phase
        phase = .closing
        partial = nil
        output = SendQueue()
        clearSlowPeer()
        // The alert shall be read before a reset destroys it (H96).
        shutDown()
        giveUp(last, "tls", unsent: 0)
    }

    /// Says goodbye in TLS before the socket does (H170).
    ///
    /// - Returns: False while that waits for the socket.
    func closeTLSSession() -> Bool {
        guard let secure else { return true }
        secure.sendCloseNotify()
        guard !secure.hasUnsent else {
            phase = .closing
            outputBlocked(sent: 0)
            return false
        }
        // What still comes is thrown away as it is.
        self.secure = nil
        canRead = true
        return true
    }

    /// Whether a request is for the host whose certificate it came under (H38).
    func isMisdirected(_ fields: Fields) -> Bool {
        guard let secure, secure.choseCertificate, let host = fields["Host"] else { return false }
        let name = host.prefix { character in character != ":" }
        return !secure.isMeant(for: CertificateNames.folded(name))
    }
}

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
        guard !isSendingFile else { return }
        if peerIsTooSlow() { return abort("slow reader") }
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
            setPhaseDeadline(.max)
            line.handler.deadlinePassed()
        case .draining:
            // The answer may still be on its way to a peer that goes on sending.
            mustClose = true
            phase = .closing
            setPhaseDeadline(.max)
            flush()
        case .lingering: close("slow")
        case .closing, .closed: break
        }
    }

    /// Stops taking new requests; what has begun is finished (H194, H195).
    func drain() {
        mustClose = true
        if case .line(let line) = phase { return notifyStopping(line) }
        guard case .head = phase, partial == nil else { return }
        // A request that is already in the socket was sent before the signal.
        canRead = true
        secure?.mayHaveData = true
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
        guard closeTLSSession() else { return }
        shutdown(descriptor, Int32(SHUT_WR))
        phase = .lingering
        left = configuration.maximumLinger
        input = []
        inputStart = 0
        setPhaseDeadline(loop.now + (patience ?? configuration.lingerTimeout))
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
        if output.isEmpty { secure?.sendCloseNotify() }
        secure = nil
        phase = .closed
        partial = nil
        input = []
        inputStart = 0
        output = SendQueue()
        setPhaseDeadline(.max)
        clearSlowPeer()
        loop.remove(self)
        server.connectionClosed(client)
        giveUp(last, reason, unsent: unsent)
        // The pump still uses the number: it must not be given to another connection.
        if !isSendingFile { releaseDescriptor() }
    }

    /// Ends what was under way.
    ///
    /// - Parameter unsent: Bytes of the output that are lost.
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
        record.bytesIn += exchange.received
        report(&record, since: exchange.startedAt)
        exchange.failure = exchange.failure ?? .interrupted
        // Who was called already hears of it when its slot comes.
        if let place = exchange.place { server.handlers.cancelWait(place) }
        exchange.stopWaiting(.interrupted, at: loop.now)
        exchange.task?.cancel()
        exchange.task = nil
    }

    func releaseDescriptor() { Glibc.close(descriptor) }
}
