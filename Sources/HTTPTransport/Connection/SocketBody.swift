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
    /// What was asked for by ``hold(_:)``; given back when nobody has the body any more.
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

    func hold(_ count: Int) -> Bool {
        guard connection.server.bodies.take(count) else { return false }
        held.add(count, ordering: .relaxed)
        return true
    }

    deinit { connection.server.bodies.give(back: held.load(ordering: .relaxed)) }

    func inform(_ response: Response) {
        loop.perform { [connection, exchange] in connection.inform(exchange, response) }
    }

    func handOver() async -> Int64 {
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
