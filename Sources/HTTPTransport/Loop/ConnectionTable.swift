/// Identifies a connection by descriptor and generation, so that a reused descriptor does not match.
struct ConnectionKey {
    let descriptor: Int32
    /// At least 1; epoll events with generation 0 do not belong to a connection.
    let generation: UInt32

    init(_ connection: Connection) {
        descriptor = connection.socket.descriptor
        generation = connection.generation
    }

    init(descriptor: Int32, generation: UInt32) {
        self.descriptor = descriptor
        self.generation = generation
    }

    /// The key in the data of an epoll event.
    init(eventData data: UInt64) {
        descriptor = Int32(truncatingIfNeeded: data)
        generation = UInt32(truncatingIfNeeded: data >> 32)
    }

    /// The data of an epoll event.
    var eventData: UInt64 { UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor)) }
}

/// The connections of a loop by descriptor, and their TLS handshakes in progress.
struct ConnectionTable {
    /// A handshake that has begun; it may have ended.
    private struct Handshake {
        let connection: ConnectionKey
        /// Monotonic milliseconds.
        let begunAt: Int64
    }

    /// A handshake is not aborted in favour of another one during its first second; a client that works
    /// correctly finishes in that time.
    private static let minimumHandshakeTime: Int64 = 1000

    private var connections: [Connection?] = []
    /// Handshakes in the order in which they began; the first one is still in progress.
    private var handshakes: ArraySlice<Handshake> = []

    mutating func add(_ connection: Connection) {
        let descriptor = Int(connection.socket.descriptor)
        while connections.count <= descriptor { connections.append(nil) }
        connections[descriptor] = connection
    }

    mutating func remove(_ connection: Connection) {
        connections[Int(connection.socket.descriptor)] = nil
    }

    /// The connection with this key, if it still exists.
    subscript(key: ConnectionKey) -> Connection? {
        guard
            Int(key.descriptor) < connections.count,
            let connection = connections[Int(key.descriptor)],
            connection.generation == key.generation
        else { return nil }
        return connection
    }

    /// All connections.
    var all: [Connection] { connections.compactMap { connection in connection } }

    /// Records a connection whose handshake begins, at a time in monotonic milliseconds.
    mutating func handshakeBegins(_ connection: Connection, at now: Int64) {
        removeEndedHandshakes()
        handshakes.append(Handshake(connection: ConnectionKey(connection), begunAt: now))
    }

    /// The connection with the oldest handshake; `nil` when all handshakes are young.
    mutating func oldestHandshake(at now: Int64) -> Connection? {
        removeEndedHandshakes()
        guard let oldest = handshakes.first, now - oldest.begunAt >= Self.minimumHandshakeTime
        else { return nil }
        return self[oldest.connection]
    }

    /// Removes the first handshakes that have ended.
    private mutating func removeEndedHandshakes() {
        let over = handshakes.prefix { handshake in
            self[handshake.connection]?.socket.isHandshaking != true
        }
        handshakes.removeFirst(over.count)
    }
}
