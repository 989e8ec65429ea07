import Bytes
import COpenSSL
import Glibc
public import Messaging

/// What the store takes from the world: time, randomness and a digest.
public struct StoreEnvironment: Sendable {
    /// The time now.
    public var now: @Sendable () -> Timestamp
    /// So many unpredictable bytes.
    public var randomBytes: @Sendable (Int) -> [UInt8]
    /// SHA-256: 32 bytes.
    public var sha256: @Sendable ([UInt8]) -> [UInt8]

    /// An environment made of its parts; tests pass a clock of their own.
    public init(
        now: @escaping @Sendable () -> Timestamp,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        sha256: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.now = now
        self.randomBytes = randomBytes
        self.sha256 = sha256
    }

    /// 128 unpredictable bits.
    func random() -> UInt128 {
        randomBytes(16).reduce(0) { bits, byte in bits << 8 | UInt128(byte) }
    }

    /// A new time-ordered name.
    func newID<Subject>() -> Identifier<Subject> {
        .v7(at: now(), random: random())
    }
}

// A file of the C boundary: OpenSSL writes exactly the arrays it is handed, during the call.
extension StoreEnvironment {
    /// The system's clock, and OpenSSL for the rest.
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
            precondition(done == 1, "OpenSSL has no randomness, and a guessable token is worse")
            return bytes
        },
        sha256: { bytes in Bytes.SHA256.digest(of: bytes) }
    )
}

/// What the store finds wrong with its own rows; never the caller's mistake.
public enum StoreFault: Error, Equatable, Sendable {
    /// A row or an event holds what this release cannot have written; the text says where.
    case unreadable(String)
    /// Work with a key has waited for something other than the store; nothing of it is kept.
    case leftTransaction
}
