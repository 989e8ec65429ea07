public import Checksums

extension CRC32: RunningDigest {
    /// Length of the digest, in bytes.
    public static let size = 4

    /// The digest of everything so far, 4 bytes, the highest first.
    public var digest: [UInt8] { bigEndian(value) }
}

extension CRC32C: RunningDigest {
    /// Length of the digest, in bytes.
    public static let size = 4

    /// The digest of everything so far, 4 bytes, the highest first.
    public var digest: [UInt8] { bigEndian(value) }
}

/// A checksum as it is sent: four bytes, the highest first.
private func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}
