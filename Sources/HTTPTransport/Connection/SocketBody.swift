import CLinux
import Glibc
import HTTP
import Synchronization

/// The body of a request on a socket.
///
/// Holds the connection while the handler works; everything happens on the connection's loop.
final class SocketBody: RequestBody, @unchecked Sendable {
    // Sendable because `connection` and `exchange` are only used on the loop.
    let length: Int64?
    private let loop: EventLoop
    private let connection: Connection
    private let exchange: Exchange
    /// What was asked for by ``reserveMemory(_:)``; given back when nobody has the body any more.
    private let held = Atomic<Int>(0)

    init(_ connection: Connection, _ exchange: Exchange) {
        loop = connection.loop
        self.connection = connection
        self.exchange = exchange
        switch exchange.terms.framing {
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

// From the socket into the buffer of a handler that reads.
extension Connection {
    /// A handler wants bytes of its body.
    func read(_ exchange: Exchange, _ read: Exchange.PendingRead) {
        if let failure = exchange.failure { return read.resume(read.buffer, failure) }
        guard case .working(let current) = phase, current === exchange, exchange.pending == nil
        else {
            return read.resume(read.buffer, .interrupted)
        }
        if exchange.decoder.isComplete { return read.resume(read.buffer, nil) }
        exchange.beginWaiting(read, at: loop.now)
        if exchange.isInterrupted { return interrupt(exchange) }
        if !input.isEmpty {
            exchange.owesContinue = false
            consumeInput()
        } else if exchange.owesContinue {
            exchange.owesContinue = false
            borrowOutput()
            output.append("HTTP/1.1 100 Continue\r\n\r\n")
            flushLater()
        }
        guard exchange.pending != nil else { return }
        if inputHasEnded { return fail(exchange, .interrupted) }
        setPhaseDeadline(exchange.due(configuration))
        resumeLater()
    }

    /// Sends an interim response to whoever is still sending (RFC 9110 §15.2).
    func sendInterim(_ exchange: Exchange, _ response: Response) {
        guard case .working(let current) = phase, current === exchange, exchange.failure == nil,
            !exchange.terms.isHTTP10, response.fields.isValid
        else { return }
        borrowOutput()
        output.append("HTTP/1.1 \(response.status.code) \(response.status.reason)\r\n")
        output.append(response.fields.bytes)
        output.append("\r\n")
        flushLater()
    }

    /// Receives straight into the handler's buffer, without a copy, where the framing allows it.
    ///
    /// - Returns: False when the bytes must pass the decoder first, or nobody reads.
    func receiveDirectly(_ exchange: Exchange) -> Bool {
        guard
            case .length = exchange.terms.framing, input.isEmpty,
            let left = exchange.decoder.announced, var read = exchange.pending
        else { return false }
        // Taken out, so that the buffer is written to in place.
        exchange.pending = nil
        let wanted = min(Int(min(left, Int64(read.buffer.room))), readBudget)
        var count = 0
        unsafe read.buffer.fill { free in
            count = unsafe receive(free.baseAddress, wanted)
            return count
        }
        let code = errno
        exchange.pending = read
        guard count > 0 else {
            nothingReceived(count, code)
            return true
        }
        readBudget -= count
        exchange.owesContinue = false
        exchange.decoder.skip(Int64(count))
        received(exchange, count)
        return true
    }

    /// Takes the framing off bytes and puts them into the handler's buffer.
    ///
    /// - Returns: How many bytes were used.
    func feed(_ exchange: Exchange, _ bytes: Span<UInt8>) -> Int {
        guard var read = exchange.pending else { return 0 }
        exchange.pending = nil
        exchange.owesContinue = false
        var used = 0
        var added = 0
        do throws(Refusal) {
            decoding: while used < bytes.count, read.buffer.room > 0 {
                // The decoder is shown no more than fits, so that what it calls content is taken.
                let end = min(bytes.count, used + read.buffer.room)
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
            exchange.pending = read
            fail(exchange, .refused(error))
            return bytes.count
        }
        exchange.pending = read
        received(exchange, added)
        return used
    }

    /// Bytes of a body have come.
    private func received(_ exchange: Exchange, _ count: Int) {
        exchange.received += Int64(count)
        if count > 0 { exchange.lastReceipt = loop.now }
        guard let read = exchange.pending else { return }
        if read.buffer.room == 0 || exchange.decoder.isComplete {
            complete(exchange, nil)
        } else {
            if exchange.handOver == nil, read.buffer.count > 0 {
                exchange.handOver = loop.now + exchange.policy.coalescingMilliseconds
            }
            setPhaseDeadline(exchange.due(configuration))
        }
    }

    /// The time of a read is up: what has come is handed over, or the body has stalled.
    func readExpired(_ exchange: Exchange) {
        guard let read = exchange.pending else { return }
        if let handOver = exchange.handOver, handOver <= loop.now, read.buffer.count > 0 {
            complete(exchange, nil)
        } else {
            fail(exchange, .stalled)
        }
    }

    /// Hands over what has been received, also what the socket holds already.
    func handOver(_ exchange: Exchange) {
        guard exchange.pending != nil else { return }
        consumeInput()
        // The kernel may have received bytes that the loop has not been told of.
        canRead = true
        secure?.mayHaveData = true
        receive()
        if wantsFlush { flushLater() }
        if let count = exchange.pending?.buffer.count, count > 0 { complete(exchange, nil) }
    }

    /// Ends a body with what has been received; a handler that does not read now gets it with its next read.
    func interrupt(_ exchange: Exchange) {
        exchange.isInterrupted = true
        guard exchange.pending != nil else { return }
        handOver(exchange)
        if !exchange.decoder.isComplete { fail(exchange, .superseded) }
    }

    /// Ends a body before its end.
    func fail(_ exchange: Exchange, _ error: BodyError) {
        guard exchange.failure == nil, case .working(let current) = phase, current === exchange
        else {
            return
        }
        exchange.failure = error
        complete(exchange, error)
    }

    private func complete(_ exchange: Exchange, _ error: BodyError?) {
        guard exchange.pending != nil else { return }
        exchange.stopWaiting(error, at: loop.now)
        setPhaseDeadline(exchange.workDue(configuration))
        resumeLater()
    }
}

/// What all requests together may hold of bodies that are read into memory as a whole (H186).
final class BodyBudget: Sendable {
    private let used = Atomic<Int>(0)
    private let limit: Atomic<Int>

    /// - Parameter limit: `maxBufferedBodies`, in bytes.
    init(limit: Int) { self.limit = Atomic(limit) }

    /// Takes a new limit; what is held stays held.
    func set(limit: Int) { self.limit.store(limit, ordering: .relaxed) }

    /// Holds so many bytes more, or none of them.
    func take(_ count: Int) -> Bool {
        let now = used.add(count, ordering: .relaxed).newValue
        guard now > limit.load(ordering: .relaxed) else { return true }
        give(back: count)
        return false
    }

    /// Holds so many bytes less.
    func give(back count: Int) { used.subtract(count, ordering: .relaxed) }

    /// How many bytes are held.
    var count: Int { used.load(ordering: .relaxed) }
}
