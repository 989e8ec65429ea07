public import HTTP

/// Which hosts a request for the demo, its files and the development login may name.
///
/// A page of another site can point a name of its own domain at this server's address (DNS rebinding), and is then of
/// the same origin. Its requests name that domain, and are refused.
public struct HostRule: Sendable {
    private let names: Set<String>

    /// - Parameters:
    ///   - publicURL: The setting `public_url`.
    ///   - allowed: The setting `http.allowed_hosts`.
    public init(publicURL: String?, allowed: [String]) {
        let ofURL = publicURL.flatMap { url in HostText(ofURL: url) }
        let named = allowed.compactMap { text in HostText(text) } + [ofURL].compactMap(\.self)
        names = Set(named.compactMap(Self.name)).union(["localhost"])
    }

    /// Whether the host is an address, `localhost`, that of the public URL, or an allowed one.
    public func admits(_ request: Request) -> Bool {
        switch request.host {
        case .address: true
        case .name?: request.host.flatMap(Self.name).map(names.contains) ?? false
        case nil: false
        }
    }

    /// The name without a final dot; `nil` for an address.
    private static func name(_ host: HostText) -> String? {
        guard case .name(let name) = host else { return nil }
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
