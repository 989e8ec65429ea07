/// What the URLs that a server hands out begin with: scheme, host and perhaps a path (ruling 36).
public struct PublicBase: Sendable, ExpressibleByStringLiteral {
    /// The base where no request names another one: in webhooks, events and exports.
    public let text: String
    /// Whether an answer takes scheme and host from the trusted proxy that its request came by.
    public let followsProxies: Bool

    /// - Parameters:
    ///   - text: An absolute URL without a trailing slash, such as `https://chat.example.com`.
    ///   - followsProxies: Whether it is only a guess, which a trusted proxy knows better.
    public init(_ text: String, followsProxies: Bool = false) {
        self.text = text
        self.followsProxies = followsProxies
    }

    /// A base that holds for every request.
    public init(stringLiteral text: String) { self.init(text) }

    /// The base that the answer to a request has instead; `nil` for ``text``.
    public func forwarded(by request: Request) -> String? {
        guard followsProxies, let host = request.forwardedHost else { return nil }
        return "\(request.scheme.rawValue)://\(host)"
    }

    /// The base of the URLs in the answer to a request.
    public func of(_ request: Request) -> String { forwarded(by: request) ?? text }
}
