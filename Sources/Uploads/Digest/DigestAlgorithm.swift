/// How a body can be checked.
enum DigestAlgorithm: Sendable, Equatable, CaseIterable {
    case md5
    case sha1
    case sha256
    case sha512
    case crc32
    case crc32c

    /// Length of the digest, in bytes.
    var size: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha512: 64
        case .crc32, .crc32c: 4
        }
    }
}
