/// How the body of a request is delimited on the wire (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Equatable {
    /// Neither length nor transfer coding: there is no body (H40 d).
    case none
    /// Exactly that many octets, 0…2⁶³−1.
    case length(Int64)
    /// Chunks, then trailers.
    case chunked

    /// True when octets of a body follow the head.
    public var announcesContent: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }
}
