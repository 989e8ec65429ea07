/// The base of URLs that the server returns: scheme, host and optionally a path (ruling 36).
public struct PublicBaseURL: Sendable, ExpressibleByStringLiteral {
    /// The base where no request determines another: in webhooks, events and exports.
    public let text: String
    /// Whether an answer uses the scheme and host that a trusted proxy reports for its request.
    public let followsProxies: Bool

    /// - Parameters:
    ///   - text: An absolute URL without a trailing slash, such as `https://chat.example.com`.
    ///   - followsProxies: Whether the text is a default that a trusted proxy overrides.
    public init(_ text: String, followsProxies: Bool = false) {
        self.text = text
        self.followsProxies = followsProxies
    }

    /// A base that applies to every request.
    public init(stringLiteral text: String) { self.init(text) }

    /// The base that replaces ``text`` in the answer to a request; `nil` when ``text`` applies.
    public func forwarded(by request: Request) -> String? {
        guard followsProxies, let host = request.forwardedHost else { return nil }
        return "\(request.scheme.rawValue)://\(host)"
    }

    /// The base of the URLs in the answer to a request.
    public func of(_ request: Request) -> String { forwarded(by: request) ?? text }
}

/// The URL scheme of a request: HTTP with or without TLS.
public enum Scheme: String, Sendable {
    /// Without TLS.
    case http
    /// With TLS.
    case https

    /// The default port.
    var port: UInt16 {
        switch self {
        case .http: 80
        case .https: 443
        }
    }

    /// Parses the scheme that a proxy reports, ignoring case; `nil` for other schemes (H201).
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

/// A host with or without a port, as in `Host` and in the header fields of proxies (RFC 9110 §7.2).
public struct Authority: Equatable, Sendable, CustomStringConvertible {
    /// A lower-case name or address; IPv6 in brackets.
    private let host: String
    /// The port, if present.
    private var port: UInt16?

    /// Parses `HOST` or `HOST:PORT`; `nil` for anything else, such as user information or a path.
    init?(_ text: some Collection<UInt8>) {
        let text = Array(text)
        // Colons inside the brackets of an IPv6 address do not end the host.
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

    /// The host as a value.
    fileprivate var hostText: HostText? { HostText(host) }

    /// A copy with this port, unless it has one.
    func adding(port: UInt16?) -> Authority {
        var authority = self
        authority.port = authority.port ?? port
        return authority
    }

    /// Parses a decimal port from 1 to 65,535; `nil` for anything else.
    static func port(_ digits: some Collection<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), let number = Int64(decimal: digits), number > 0 else {
            return nil
        }
        return UInt16(exactly: number)
    }

    /// The host, and the port if present.
    public var description: String { port.map { port in "\(host):\(port)" } ?? host }
}

extension Request {
    /// The host that the request names in `Host`, without port; `nil` when it is missing or malformed.
    public var host: HostText? {
        fields.bytes("Host").flatMap { text in Authority(text) }?.hostText
    }
}

extension HostText {
    /// The host of an absolute URL; `nil` when it has none.
    public init?(ofURL url: String) {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, let host = Authority(parts[2].utf8)?.hostText else { return nil }
        self = host
    }
}
