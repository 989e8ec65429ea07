// Whose handshake makes room for another one (H168).
extension EventLoop {
    /// A handshake that has begun; it may be over by now.
    struct Handshake {
        let connection: DeadlineWheel.Entry
        /// Monotonic milliseconds.
        let begunAt: Int64
    }

    /// A handshake is safe from being ended for another one for so many milliseconds, which are enough for
    /// whoever means to finish it.
    private static let safety: Int64 = 1000

    /// Notes a connection whose handshake begins.
    func handshakeBegins(_ connection: Connection) {
        forgetHandshakes()
        handshakes.append(
            Handshake(
                connection: .init(
                    descriptor: connection.descriptor, generation: connection.generation),
                begunAt: now))
    }

    /// Ends the handshake that has been under way for longest: two addresses that say nothing could else
    /// keep everybody out.
    ///
    /// - Returns: False when all of them are young.
    func endOldestHandshake() -> Bool {
        forgetHandshakes()
        guard let oldest = handshakes.first, now - oldest.begunAt >= Self.safety else {
            return false
        }
        connection(oldest.connection.descriptor, oldest.connection.generation)?.abort("handshake")
        return true
    }

    /// Forgets those at the front that are over.
    private func forgetHandshakes() {
        let over = handshakes.prefix { handshake in
            let entry = handshake.connection
            return connection(entry.descriptor, entry.generation)?.isShakingHands != true
        }
        handshakes.removeFirst(over.count)
    }
}
