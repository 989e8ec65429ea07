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
    /// What the client called this server, as a trusted proxy says; for URLs only, see ``PublicBaseURL``.
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

/// The request methods this server implements somewhere (RFC 9110 §9).
///
/// A method outside this list is answered before it reaches a service (H12); `CONNECT` and `TRACE` are
/// left out on purpose (H19, H20).
public enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// Who a client has proved to be by its certificate during the handshake (H167); never what a field
/// of its request says.
public final class ClientIdentity: Sendable {
    /// The subject as RFC 4514 writes it: `CN=billing,O=Example`.
    public let subject: String
    /// SHA-256 of the certificate, 32 bytes.
    public let digest: [UInt8]

    /// Puts it together.
    public init(subject: String, digest: [UInt8]) {
        self.subject = subject
        self.digest = digest
    }
}

/// On whose account a request was made, for logs (H206): ids only, never a credential.
public struct RequestOwner: Equatable, Sendable {
    /// The id of the application.
    public let application: String
    /// The id of the token.
    public let token: String

    /// Takes both ids.
    public init(application: String, token: String) {
        self.application = application
        self.token = token
    }
}

/// How a client would like to be served (`Prefer`, RFC 7240 §2).
///
/// Wishes only: what cannot be read is left out, and nobody is refused for it.
public struct PreferHeader: Sendable {
    private let wishes: [(name: String, value: String)]

    /// Reads all `Prefer` lines; parameters behind a `;` do not matter here.
    public init(_ fields: Fields) {
        let elements = fields.joined("Prefer").flatMap(FieldList.elements) ?? []
        wishes = elements.map { element in
            let wish = element.prefix { character in character != ";" }
            let halves = wish.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map(\.trimmed)
            return (halves[0].lowercased(), halves.count == 2 ? Self.unquoted(halves[1]) : "")
        }
    }

    /// What is wished for under a name, of several the first; `""` without a value.
    public subscript(name: String) -> String? {
        wishes.first { wish in wish.name == name }?.value
    }

    private static func unquoted(_ word: Substring) -> String {
        guard word.count >= 2, word.first == "\"", word.last == "\"" else { return String(word) }
        return String(word.dropFirst().dropLast())
    }
}
