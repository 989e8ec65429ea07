import HTTP
import SystemSupport

/// Counts the open connections of each client (H182).
///
/// It has sixteen tables with a lock each, because the loops accept in parallel. Swift seeds its hash tables
/// at random for each process, so a client cannot choose colliding addresses (H188); an address without
/// connections has no entry.
struct AddressCounts: Sendable {
    /// The client of a connection: an IPv4 address, or an IPv6 network of 64 bits, because an IPv6 client can
    /// use all addresses of its network.
    struct Client: Hashable {
        private let bits: UInt64
        private let isIPv4: Bool

        /// - Returns: `nil` for peers without an address, which cannot be distinguished.
        init?(_ peer: PeerAddress) {
            switch peer {
            case .ipv4(let address, _): (bits, isIPv4) = (UInt64(address), true)
            case .ipv6(let address, _): (bits, isIPv4) = (address.high, false)
            case .local, .unknown: return nil
            }
        }
    }

    private let tables = (0..<16).map { _ in Locked<[Client: Int]>([:]) }

    /// Counts one more connection.
    ///
    /// - Returns: False when the client already has `limit` connections.
    func add(_ client: Client, limit: Int) -> Bool {
        table(of: client).withLock { counts in
            let count = counts[client] ?? 0
            guard count < limit else { return false }
            counts[client] = count + 1
            return true
        }
    }

    /// Counts one connection less.
    func remove(_ client: Client) {
        table(of: client).withLock { counts in
            let count = counts[client] ?? 0
            counts[client] = count > 1 ? count - 1 : nil
        }
    }

    /// The number of clients with connections.
    var clientCount: Int {
        tables.reduce(0) { sum, table in sum + table.withLock { counts in counts.count } }
    }

    private func table(of client: Client) -> Locked<[Client: Int]> {
        // A client gains nothing by choosing the table, so the hash needs no secret.
        tables[client.hashValue & 15]
    }
}

/// The reason why a connection was refused before anything was read from it.
public enum ConnectionRefusal: String, Sendable, CaseIterable {
    /// ``ServerConfiguration/maximumConnections`` is reached; without TLS the client gets a 503 (H181).
    case full
    /// ``ServerConfiguration/maximumConnectionsPerAddress`` of its client is reached (H182).
    case client
    /// The process has no descriptor left (H183).
    case descriptors
    /// There is no memory for a TLS session.
    case memory
    /// It does not come from a trusted proxy, although a PROXY header is required (H202).
    case untrusted
}
