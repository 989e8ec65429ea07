import CLinux
import Glibc
import HTTP
import Synchronization

/// The body of a request that is read from a socket.
///
/// It keeps the connection alive while the handler works; everything happens on the connection's loop.
final class SocketBody: RequestBody, @unchecked Sendable {
    // Sendable because `connection` and `exchange` are used only on the loop.
    let length: Int64?
    private let loop: EventLoop
    private let connection: Connection
    private let exchange: Exchange
    /// The bytes reserved by ``reserveMemory(_:)``; released when nothing refers to the body any more.
    private let held = Atomic<Int>(0)

    init(_ connection: Connection, _ exchange: Exchange) {
        loop = connection.loop
        self.connection = connection
        self.exchange = exchange
        switch exchange.traits.framing {
        case .none: length = 0
        case .length(let count): length = count
        case .chunked: length = nil
        }
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        var lent = buffer.take()
        lent.removeAll()
        let (filled, error) = await withCheckedContinuation { continuation in
            read(lent.take()) { buffer, error in continuation.resume(returning: (buffer, error)) }
        }
        buffer = filled
        if let error { throw error }
    }

    private func read(
        _ buffer: BodyBuffer, _ resume: @escaping @Sendable (BodyBuffer, BodyError?) -> Void
    ) {
        loop.perform { [connection, exchange] in
            connection.read(exchange, .init(buffer: buffer, resume: resume))
        }
    }

    var trailer: [String] {
        get async {
            await withCheckedContinuation { continuation in
                loop.perform { [exchange] in
                    continuation.resume(returning: exchange.decoder.trailer)
                }
            }
        }
    }

    func reserveMemory(_ count: Int) -> Bool {
        guard connection.server.bodies.take(count) else { return false }
        held.add(count, ordering: .relaxed)
        return true
    }

    deinit { connection.server.bodies.give(back: held.load(ordering: .relaxed)) }

    func sendInterim(_ response: Response) {
        loop.perform { [connection, exchange] in connection.sendInterim(exchange, response) }
    }

    func completePendingRead() async -> Int64 {
        await withCheckedContinuation { continuation in
            loop.perform { [connection, exchange] in
                connection.handOver(exchange)
                continuation.resume(returning: exchange.received)
            }
        }
    }

    func interrupt() {
        loop.perform { [connection, exchange] in connection.interrupt(exchange) }
    }
}

// Reading of request bodies, from the socket into the buffer of the handler.
extension Connection {
    /// Starts a read of a handler.
    func read(_ exchange: Exchange, _ read: Exchange.PendingRead) {
        if let failure = exchange.failure { return read.resume(read.buffer, failure) }
        guard case .working(let current) = phase, current === exchange, exchange.pendingRead == nil
        else {
            return read.resume(read.buffer, .interrupted)
        }
        if exchange.decoder.isComplete { return read.resume(read.buffer, nil) }
        exchange.beginRead(read, at: loop.now)
        let mustSendContinue = exchange.takeContinue()
        if exchange.isInterrupted { return interrupt(exchange) }
        if !input.isEmpty {
            processInput()
        } else if mustSendContinue {
            output.borrowStorage(from: loop)
            output.append("HTTP/1.1 100 Continue\r\n\r\n")
            flushLater()
        }
        guard exchange.pendingRead != nil else { return }
        if inputHasEnded { return fail(exchange, .interrupted) }
        setPhaseDeadline(exchange.readDeadline(configuration))
        resumeLater()
    }

    /// Sends an interim response to a client that is still sending (RFC 9110 §15.2).
    func sendInterim(_ exchange: Exchange, _ response: Response) {
        guard case .working(let current) = phase, current === exchange, exchange.failure == nil,
            !exchange.traits.isHTTP10, response.fields.isValid
        else { return }
        output.borrowStorage(from: loop)
        output.append("HTTP/1.1 \(response.status.code) \(response.status.reason)\r\n")
        output.append(response.fields.bytes)
        output.append("\r\n")
        flushLater()
    }

    /// Receives directly into the handler's buffer, without a copy, when the framing allows it.
    ///
    /// - Returns: False when the bytes must be decoded first, or no read is pending.
    func receiveDirectly(_ exchange: Exchange) -> Bool {
        guard
            case .length = exchange.traits.framing, input.isEmpty,
            let left = exchange.decoder.announced, var read = exchange.pendingRead
        else { return false }
        // Moved out of the property, so that the buffer is modified in place.
        exchange.pendingRead = nil
        let wanted = min(Int(min(left, Int64(read.buffer.freeCapacity))), readBudget)
        var count = 0
        unsafe read.buffer.fill { free in
            count = unsafe receive(free.baseAddress, wanted)
            return count
        }
        let code = errno
        exchange.pendingRead = read
        guard count > 0 else {
            nothingReceived(count, code)
            return true
        }
        readBudget -= count
        exchange.decoder.skip(Int64(count))
        received(exchange, count)
        return true
    }

    /// Decodes bytes and appends the content to the handler's buffer.
    ///
    /// - Returns: The number of bytes used.
    func feed(_ exchange: Exchange, _ bytes: Span<UInt8>) -> Int {
        guard var read = exchange.pendingRead else { return 0 }
        exchange.pendingRead = nil
        var used = 0
        var added = 0
        do throws(Refusal) {
            decoding: while used < bytes.count, read.buffer.freeCapacity > 0 {
                // The decoder gets no more bytes than fit into the buffer, so that all content it returns can
                // be stored.
                let end = min(bytes.count, used + read.buffer.freeCapacity)
                let window = bytes.extracting(used..<end)
                switch try exchange.decoder.step(window) {
                case .framing(let count): used += count
                case .content(let count):
                    added += read.buffer.append(window.extracting(..<count))
                    used += count
                case .needsInput, .end: break decoding
                }
            }
        } catch {
            exchange.pendingRead = read
            fail(exchange, .refused(error))
            return bytes.count
        }
        exchange.pendingRead = read
        received(exchange, added)
        return used
    }

    /// Counts received bytes of a body, and completes the read when the buffer is full or the body complete.
    private func received(_ exchange: Exchange, _ count: Int) {
        exchange.count(count, at: loop.now)
        guard let read = exchange.pendingRead else { return }
        if read.buffer.freeCapacity == 0 || exchange.decoder.isComplete {
            complete(exchange, nil)
        } else {
            if read.buffer.count > 0 { exchange.deliver(from: loop.now) }
            setPhaseDeadline(exchange.readDeadline(configuration))
        }
    }

    /// Handles a read whose deadline has passed: delivers the received bytes, or fails the body as stalled.
    func readExpired(_ exchange: Exchange) {
        guard let read = exchange.pendingRead else { return }
        if exchange.mustDeliver(at: loop.now), read.buffer.count > 0 {
            complete(exchange, nil)
        } else {
            fail(exchange, .stalled)
        }
    }

    /// Delivers the received bytes, including those in the socket.
    func handOver(_ exchange: Exchange) {
        guard exchange.pendingRead != nil else { return }
        processInput()
        socket.expectInput()
        receive()
        if wantsFlush { flushLater() }
        if let count = exchange.pendingRead?.buffer.count, count > 0 { complete(exchange, nil) }
    }

    /// Ends a body with the bytes received so far; without a pending read they are returned by the next read.
    func interrupt(_ exchange: Exchange) {
        exchange.isInterrupted = true
        guard exchange.pendingRead != nil else { return }
        handOver(exchange)
        if !exchange.decoder.isComplete { fail(exchange, .superseded) }
    }

    /// Fails a body before its end.
    func fail(_ exchange: Exchange, _ error: BodyError) {
        guard exchange.failure == nil, case .working(let current) = phase, current === exchange
        else {
            return
        }
        exchange.failure = error
        complete(exchange, error)
    }

    private func complete(_ exchange: Exchange, _ error: BodyError?) {
        guard exchange.pendingRead != nil else { return }
        exchange.endRead(error, at: loop.now)
        setPhaseDeadline(exchange.handlerDeadline(configuration))
        resumeLater()
    }
}

/// The memory budget of all request bodies that are read into memory as a whole (H186).
final class BodyBudget: Sendable {
    private let used = Atomic<Int>(0)
    private let limit: Atomic<Int>

    /// - Parameter limit: ``ServerConfiguration/maximumBufferedBodies``, in bytes.
    init(limit: Int) { self.limit = Atomic(limit) }

    /// Changes the limit; reserved bytes stay reserved.
    func set(limit: Int) { self.limit.store(limit, ordering: .relaxed) }

    /// Reserves bytes.
    ///
    /// - Returns: False when the limit would be exceeded; then nothing is reserved.
    func take(_ count: Int) -> Bool {
        let now = used.add(count, ordering: .relaxed).newValue
        guard now > limit.load(ordering: .relaxed) else { return true }
        give(back: count)
        return false
    }

    /// Releases reserved bytes.
    func give(back count: Int) { used.subtract(count, ordering: .relaxed) }

    /// The number of reserved bytes.
    var count: Int { used.load(ordering: .relaxed) }
}
