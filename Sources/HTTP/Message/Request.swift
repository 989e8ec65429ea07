/// The head of a request: everything a service needs to decide what happens with its body.
public struct Request: Sendable {
    /// The method as received; an override by header is the business of the routes that define it.
    public var method: Method
    /// Path and query.
    public let target: RequestTarget
    /// The header fields.
    public let fields: Fields
    /// How the body is delimited (RFC 9112 §6.3).
    public let framing: BodyFraming
    /// True for HTTP/1.0, which gets no interim responses.
    public let isHTTP10: Bool
    /// Names this request in the log and in `X-Request-Id` (H205).
    public let id: RequestID
    /// The client: the other end of the connection, or who stands behind it as far as its proxies are
    /// to be believed (H199, H202, H204).
    public let peer: PeerAddress
    /// True when the other end of the connection is a configured proxy (H198).
    public let isProxied: Bool
    /// Who the client has proved to be by a certificate; `nil` without one (H167).
    public let client: ClientIdentity?
    /// What the client speaks, as far as that is known; for URLs and HSTS only (H201).
    public let scheme: Scheme
    /// What the client called this server, as a trusted proxy says; for URLs only, see ``PublicBase``.
    public let forwardedHost: Authority?

    /// Puts a head together.
    public init(
        method: Method, target: RequestTarget, fields: Fields, framing: BodyFraming = .none,
        isHTTP10: Bool = false, id: RequestID = RequestID(high: 0, low: 0),
        peer: PeerAddress = .unknown, scheme: Scheme = .http, client: ClientIdentity? = nil,
        isProxied: Bool = false, forwardedHost: Authority? = nil
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.framing = framing
        self.isHTTP10 = isHTTP10
        self.id = id
        self.peer = peer
        self.client = client
        self.isProxied = isProxied
        self.scheme = scheme
        self.forwardedHost = forwardedHost
    }
}
