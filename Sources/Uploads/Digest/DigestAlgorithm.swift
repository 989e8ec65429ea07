internal import Checksums
internal import Digests

/// How a body can be checked.
enum DigestAlgorithm: Sendable, Equatable, CaseIterable {
    case md5
    case sha1
    case sha256
    case sha512
    case crc32
    case crc32c

    /// What takes it while the body arrives.
    var kind: any RunningDigest.Type {
        switch self {
        case .md5: MD5.self
        case .sha1: SHA1.self
        case .sha256: SHA256.self
        case .sha512: SHA512.self
        case .crc32: CRC32.self
        case .crc32c: CRC32C.self
        }
    }
}
