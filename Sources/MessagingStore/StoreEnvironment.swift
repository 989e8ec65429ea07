import Bytes
import COpenSSL
import Glibc
public import Messaging

/// What a store takes from its environment: a clock, random bytes, SHA-256, and how often it looks for what other processes do.
public struct StoreEnvironment: Sendable {
    /// The current time.
    public var now: @Sendable () -> Timestamp
    /// Returns that many cryptographically random bytes.
    public var randomBytes: @Sendable (Int) -> [UInt8]
    /// SHA-256: 32 bytes.
    public var sha256: @Sendable ([UInt8]) -> [UInt8]
    /// How often readers of a log look for commits of other processes that were not reported, in milliseconds.
    public var pollInterval: Int64 = 5000

    /// Creates an environment; tests pass their own clock.
    public init(
        now: @escaping @Sendable () -> Timestamp,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.now = now
        self.randomBytes = randomBytes
        self.sha256 = sha256
    }

    /// Returns 128 random bits.
    func random() -> UInt128 {
        randomBytes(16).reduce(0) { bits, byte in bits << 8 | UInt128(byte) }
    }

    /// Returns a new time-ordered identifier (UUID version 7).
    func newID<Subject>() -> Identifier<Subject> {
        .v7(at: now(), random: random())
    }
}

// C boundary: OpenSSL writes exactly the arrays that it is passed, during the call.
extension StoreEnvironment {
    /// The system clock, and OpenSSL for random bytes and digests.
    public static let live = StoreEnvironment(
        now: {
            var time = timespec()
            unsafe clock_gettime(CLOCK_REALTIME, &time)
            return Timestamp(
                milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        },
        randomBytes: { count in
            var bytes = [UInt8](repeating: 0, count: count)
            let done = unsafe RAND_bytes(&bytes, Int32(count))
            precondition(done == 1, "OpenSSL returned no random bytes")
            return bytes
        },
        sha256: { bytes in Bytes.SHA256.digest(of: bytes) }
    )
}

/// An error in the stored data or in the server's own code; never the fault of a client.
public enum StoreFault: Error, Equatable, Sendable {
    /// A row or an event has a value that this release cannot have written; the text names the value.
    case unreadable(String)
    /// A request handler that runs in an inline transaction has suspended on something other than the store. Its
    /// changes are rolled back.
    case leftTransaction
}
