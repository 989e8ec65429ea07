/// What the URLs that a server hands out begin with: scheme, host and perhaps a path (ruling 36).
public struct PublicBaseURL: Sendable, ExpressibleByStringLiteral {
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

/// What a client speaks: HTTP in the clear or over TLS.
public enum Scheme: String, Sendable {
    /// In the clear.
    case http
    /// Over TLS.
    case https

    /// The port of URLs that name none.
    var port: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }

    /// Reads a proxy's word for it, in any case; `nil` for other schemes (H201).
    init?(_ text: some Collection<UInt8>) {
        if text.isEqualIgnoringCase("https".utf8) {
            self = .https
        } else if text.isEqualIgnoringCase("http".utf8) {
            self = .http
        } else {
            return nil
        }
    }
}

/// A host with or without a port, as `Host` and the fields of proxies name it (RFC 9110 §7.2).
public struct Authority: Equatable, Sendable, CustomStringConvertible {
    /// A name or an address in lower case, one of IPv6 in brackets.
    public let host: String
    /// The port, if one was named.
    public private(set) var port: UInt16?

    /// Reads `HOST` or `HOST:PORT`; `nil` for anything else, such as user information or a path.
    init?(_ text: some Collection<UInt8>) {
        let text = Array(text)
        // Within the brackets of IPv6 colons are no end of the host.
        let start =
            text.first == UInt8(ascii: "[") ? text.firstIndex(of: UInt8(ascii: "]")) ?? 0 : 0
        let colon = text[start...].firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
        let host = String(decoding: text[..<colon], as: UTF8.self)
        guard HostText(host) != nil else { return nil }
        self.host = host.lowercased()
        guard colon < text.endIndex else { return }
        guard let port = Self.port(text[(colon + 1)...]) else { return nil }
        self.port = port
    }

    /// The same with a port, unless it has one.
    func adding(port: UInt16?) -> Authority {
        var authority = self
        authority.port = authority.port ?? port
        return authority
    }

    /// A port in decimal digits, 1 to 65,535; `nil` for anything else.
    static func port(_ digits: some Collection<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), let number = Int64(decimal: digits), number > 0 else {
            return nil
        }
        return UInt16(exactly: number)
    }

    /// The host, and the port if there is one.
    public var description: String { port.map { port in "\(host):\(port)" } ?? host }
}
