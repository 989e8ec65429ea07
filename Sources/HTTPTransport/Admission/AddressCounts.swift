import HTTP
import SystemSupport

/// How many connections each client has open (H182).
///
/// Sixteen tables with a lock each, because the loops accept side by side. Swift seeds its tables at
/// random for each process, so nobody can choose addresses that collide (H188); an address without
/// connections has no entry.
struct AddressCounts: Sendable {
    /// Whom connections are counted for: an IPv4 address, or the 64 bits of an IPv6 network, because
    /// every IPv6 client has all addresses of one.
    struct Client: Hashable {
        private let bits: UInt64
        private let isIPv4: Bool

        /// `nil` for peers without an address: nobody knows how many they are.
        init?(_ peer: PeerAddress) {
            switch peer {
            case .ipv4(let address, _): (bits, isIPv4) = (UInt64(address), true)
            case .ipv6(let address, _): (bits, isIPv4) = (address.high, false)
            case .local, .unknown: return nil
            }
        }
    }

    private let tables = (0..<16).map { _ in Locked<[Client: Int]>([:]) }

    /// Counts one more connection, unless there are `limit` already.
    func add(_ client: Client, limit: Int) -> Bool {
        table(of: client).withLock { counts in
            let count = counts[client] ?? 0
            guard count < limit else { return false }
            counts[client] = count + 1
            return true
        }
    }

    /// A connection that was counted is gone.
    func remove(_ client: Client) {
        table(of: client).withLock { counts in
            let count = counts[client] ?? 0
            counts[client] = count > 1 ? count - 1 : nil
        }
    }

    /// How many clients have connections.
    var clientCount: Int {
        tables.reduce(0) { sum, table in sum + table.withLock { counts in counts.count } }
    }

    private func table(of client: Client) -> Locked<[Client: Int]> {
        // Which of the sixteen it is may be known to everybody.
        tables[client.hashValue & 15]
    }
}

/// Why a connection was refused before anything of it was read.
public enum ConnectionRefusal: String, Sendable, CaseIterable {
    /// There are `maxConnections`; it was told so where nothing speaks against it (H181).
    case full
    /// Its client has `maxConnectionsPerAddress` (H182).
    case client
    /// No descriptor is left for it (H183).
    case descriptors
    /// No memory is left for its TLS session.
    case memory
    /// It came past the proxy that every connection has to come through (H202).
    case untrusted
}
