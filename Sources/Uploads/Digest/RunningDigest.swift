internal import Checksums

/// A digest of one request's body while it arrives.
enum RunningDigest: Sendable {
    case sha1(SHA1)
    case sha256(SHA256)
    case sha512(SHA512)
    case md5(MD5)
    case crc32(CRC32)
    case crc32c(CRC32C)

    /// Starts over no bytes.
    init(_ algorithm: DigestAlgorithm) {
        self =
            switch algorithm {
            case .sha1: .sha1(SHA1())
            case .sha256: .sha256(SHA256())
            case .sha512: .sha512(SHA512())
            case .md5: .md5(MD5())
            case .crc32: .crc32(CRC32())
            case .crc32c: .crc32c(CRC32C())
            }
    }

    /// Takes the next bytes.
    mutating func update(_ bytes: Span<UInt8>) {
        switch self {
        case .sha1(var hash):
            hash.update(bytes)
            self = .sha1(hash)
        case .sha256(var hash):
            hash.update(bytes)
            self = .sha256(hash)
        case .sha512(var hash):
            hash.update(bytes)
            self = .sha512(hash)
        case .md5(var hash):
            hash.update(bytes)
            self = .md5(hash)
        case .crc32(var checksum):
            checksum.update(bytes)
            self = .crc32(checksum)
        case .crc32c(var checksum):
            checksum.update(bytes)
            self = .crc32c(checksum)
        }
    }

    /// Of everything so far; checksums with their highest byte first.
    var digest: [UInt8] {
        switch self {
        case .sha1(let hash): hash.digest
        case .sha256(let hash): hash.digest
        case .sha512(let hash): hash.digest
        case .md5(let hash): hash.digest
        case .crc32(let checksum): bigEndian(checksum.value)
        case .crc32c(let checksum): bigEndian(checksum.value)
        }
    }
}

/// A checksum as it is sent: four bytes, the highest first.
func bigEndian(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}
