internal import Digests

/// What a signature says of the body (§10.4).
enum PayloadDigest: Sendable, Equatable {
    /// Its SHA-256 in lower-case hexadecimal digits, which the store verifies.
    case sha256(String)
    /// Nothing: TLS alone keeps the body whole.
    case unsigned

    /// Of a body in memory.
    init(of bytes: [UInt8]) { self = .sha256(String(hexadecimal: SHA256.digest(of: bytes))) }

    /// Of no body.
    static let empty = PayloadDigest(of: [])

    /// The value of `x-amz-content-sha256`.
    var text: String {
        switch self {
        case .sha256(let digits): digits
        case .unsigned: "UNSIGNED-PAYLOAD"
        }
    }
}
