/// The content codings this server reads and writes, in the order in which it likes to write them
/// (RFC 9110 §8.4.1).
public enum ContentCoding: String, Sendable, CaseIterable {
    /// RFC 1952; `x-gzip` is another word for it.
    case gzip
    /// The zlib format of RFC 1950; the bare octets of RFC 1951 are neither written nor read (H113).
    case deflate

    /// The value of `Accept-Encoding` in a 415 (H117, H121).
    public static let accepted = "gzip, deflate, identity"

    /// The name in `Content-Encoding`.
    public var name: String { rawValue }

    init?(name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }

    /// How zlib is asked for this format, with a window of 2ⁿ octets, n from 9 to 15.
    func windowBits(_ window: Int32 = 15) -> Int32 {
        switch self {
        case .gzip: window + 16
        case .deflate: window
        }
    }
}
