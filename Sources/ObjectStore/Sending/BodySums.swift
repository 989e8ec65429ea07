internal import Base64
internal import Checksums
internal import Digests

/// What is sent beside a body so that the store can verify it.
struct BodySums: Sendable {
    let payload: PayloadDigest
    /// Its CRC-32C in base64, where it was asked for.
    let crc32c: String?
}

/// The sums of a body while it is read for them.
struct RunningSums: Sendable {
    private let known: PayloadDigest?
    private var sha256 = SHA256()
    private var crc32c: CRC32C?

    /// - Parameters:
    ///   - known: What is known of the body, and is not to be computed.
    ///   - isSummed: Whether its CRC-32C is wanted.
    init(known: PayloadDigest?, isSummed: Bool) {
        self.known = known
        crc32c = isSummed ? CRC32C() : nil
    }

    mutating func update(_ octets: [UInt8]) {
        if known == nil { sha256.update(octets.span) }
        crc32c?.update(octets.span)
    }

    /// The sums of a whole body in memory.
    func over(_ octets: [UInt8]) -> BodySums {
        var sums = self
        sums.update(octets)
        return sums.end
    }

    /// The sums of what was taken.
    var end: BodySums {
        BodySums(
            payload: known ?? .sha256(String(hexadecimal: sha256.digest)),
            crc32c: crc32c.map { sum in
                Base64.encode((0..<4).map { UInt8(truncatingIfNeeded: sum.value >> (24 - 8 * $0)) })
            })
    }
}
