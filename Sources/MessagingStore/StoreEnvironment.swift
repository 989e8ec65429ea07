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
