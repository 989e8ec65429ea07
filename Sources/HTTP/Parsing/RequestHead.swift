/// A request head as the parser leaves it: the request and what it means for the connection.
public struct RequestHead: Sendable {
    /// `nil` for a well-formed method outside ``Method`` (H12).
    public let method: Method?
    /// Whether the method is `TRACE`, which no service is asked to answer (H20).
    public let isTrace: Bool
    /// The target, in origin form or `*`.
    public let target: RequestTarget
    /// The fields, without those that `Connection` names as hop-by-hop (H31).
    public let fields: Fields
    /// How the body is delimited.
    public let framing: BodyFraming
    /// True for HTTP/1.0.
    public let isHTTP10: Bool
    /// Whether the peer wants the connection kept (H78, H79).
    public let persists: Bool
    /// Whether the peer waits for `100 Continue` (H73).
    public let expectsContinue: Bool
    /// A fault that is answered without closing the connection (H12, H37, H57).
    public let objection: Refusal?

    /// The request of this head, with what its connection knows; the head ends in it.
    public consuming func request(
        _ method: Method, id: RequestID, peer: PeerAddress, scheme: Scheme, client: ClientIdentity?,
        isProxied: Bool = false, forwardedHost: Authority? = nil
    ) -> Request {
        Request(
            method: method, target: target, fields: fields, framing: framing, isHTTP10: isHTTP10,
            id: id, peer: peer, scheme: scheme, client: client, isProxied: isProxied,
            forwardedHost: forwardedHost)
    }
}
