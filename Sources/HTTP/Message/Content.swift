/// What a response carries after its head.
public enum Content: Sendable {
    /// Nothing; `Content-Length: 0` is stated where the status allows content.
    case none
    /// Octets in memory.
    case bytes([UInt8])
    /// A range of an open file, sent by the kernel.
    ///
    /// Kept apart, as everything that is rare: every answer is as large as the largest content.
    indirect case file(any FileContent, offset: Int64, length: Int64)
    /// Several of these, one after another (`multipart/byteranges`).
    case parts([Content])
    /// Octets that come as time goes by, written by its handler until that one finishes.
    ///
    /// Of a length that is known they are stated in `Content-Length`, and a handler that writes
    /// another number breaks the connection; otherwise they are chunked, or delimited by the end of
    /// the connection for an HTTP/1.0 peer (H88, H90).
    ///
    /// Stands alone: among ``parts(_:)`` it is left out.
    indirect case stream(any LineHandler, length: Int64? = nil)
    /// The answer to a `HEAD` whose length is not stated at all.
    case withheld

    /// The number of octets, stated in `Content-Length`; `nil` when only the end tells.
    public var length: Int64? {
        switch self {
        case .none, .withheld: 0
        case .stream(_, let length): length
        case .bytes(let octets): Int64(octets.count)
        case .file(_, _, let length): length
        case .parts(let parts): parts.reduce(0) { sum, part in sum + (part.length ?? 0) }
        }
    }
}

/// An open file whose bytes never change while somebody holds it.
///
/// The descriptor stays open for as long as the object lives.
public protocol FileContent: AnyObject, Sendable {
    /// A readable descriptor of a regular file.
    var descriptor: Int32 { get }
}
