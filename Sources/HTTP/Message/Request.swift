/// The head of a request, from which a service decides what to do with its body.
public struct Request: Sendable {
    /// The method as received. Routes that allow a method override apply it themselves.
    public var method: Method
    /// Path and query.
    public let target: RequestTarget
    /// The header fields.
    public let fields: Fields
    /// How the body is delimited (RFC 9112 §6.3).
    public let framing: BodyFraming
    /// True for HTTP/1.0, which gets no interim responses.
    public let isHTTP10: Bool
    /// Identifies the request in the log and in `X-Request-Id` (H205).
    public let id: RequestID
    /// The client's address: the peer of the connection, or the client reported by trusted proxies
    /// (H199, H202, H204).
    public let peer: PeerAddress
    /// Whether the peer of the connection is a trusted proxy (H198).
    public let isProxied: Bool
    /// The client's identity by its certificate; `nil` without one (H167).
    public let client: ClientIdentity?
    /// The scheme that the client used, as far as known; for URLs and HSTS only (H201).
    public let scheme: Scheme
    /// The host that the client requested, as reported by a trusted proxy; for URLs only, see
    /// ``PublicBaseURL``.
    public let forwardedHost: Authority?

    /// Makes a request.
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

/// The supported request methods (RFC 9110 §9).
///
/// Other methods are answered before a service is called (H12); `CONNECT` and `TRACE` are not
/// supported on purpose (H19, H20).
public enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// The identity that a client proved by its certificate in the TLS handshake (H167). Never taken
/// from header fields.
public final class ClientIdentity: Sendable {
    /// The subject in the format of RFC 4514: `CN=billing,O=Example`.
    public let subject: String
    /// The SHA-256 of the certificate, 32 bytes.
    public let digest: [UInt8]

    /// Makes an identity.
    public init(subject: String, digest: [UInt8]) {
        self.subject = subject
        self.digest = digest
    }
}

/// The application and token by which a request was authenticated, for logs (H206): ids only, never
/// a credential.
public struct RequestOwner: Equatable, Sendable {
    /// The id of the application.
    public let application: String
    /// The id of the token.
    public let token: String

    /// Makes an owner of both ids.
    public init(application: String, token: String) {
        self.application = application
        self.token = token
    }
}

/// The preferences of a client (`Prefer`, RFC 7240 §2).
///
/// They are optional: malformed ones are ignored and never cause an error.
public struct PreferHeader: Sendable {
    private let preferences: [(name: String, value: String)]

    /// Reads all `Prefer` lines; parameters after a `;` are ignored.
    public init(_ fields: Fields) {
        let elements = fields.joined("Prefer").flatMap(FieldList.elements) ?? []
        preferences = elements.map { element in
            let preference = element.prefix { character in character != ";" }
            let halves = preference.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false
            )
            .map(\.trimmed)
            return (halves[0].lowercased(), halves.count == 2 ? Self.unquoted(halves[1]) : "")
        }
    }

    /// The value of the first preference of that name; empty when it has no value.
    public subscript(name: String) -> String? {
        preferences.first { preference in preference.name == name }?.value
    }

    private static func unquoted(_ word: Substring) -> String {
        guard word.count >= 2, word.first == "\"", word.last == "\"" else { return String(word) }
        return String(word.dropFirst().dropLast())
    }
}
