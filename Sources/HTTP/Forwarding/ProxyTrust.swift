/// Which proxies are believed, and which field says who stands behind them (H198–H201).
///
/// From anybody else the fields mean nothing, and neither do those that were not chosen here: one
/// source of truth, never a mix.
public struct ProxyTrust: Sendable, Equatable {
    /// Where the client's address stands.
    public enum Source: String, Sendable, CaseIterable {
        /// Nowhere: the peer of the socket is the client.
        case none
        /// In `Forwarded` (RFC 7239).
        case forwarded
        /// In `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Port`.
        case xForwarded = "x-forwarded"
    }

    /// The addresses of the proxies; nobody, unless somebody is named.
    public var proxies: [AddressBlock] = []
    /// Where the client's address stands.
    public var source = Source.none
    /// `maxForwardedHops`: how many elements of the list are looked at (H199).
    public var maximumHops = 16

    /// Trusts nobody.
    public init() {}

    /// Whether a peer is one of the proxies.
    public func includes(_ peer: PeerAddress) -> Bool {
        proxies.contains { block in block.contains(peer) }
    }

    /// Where a request really comes from.
    public struct Origin: Sendable, Equatable {
        /// The client, as far as proxies are to be believed.
        public var client: PeerAddress
        /// What the client spoke with the outermost proxy, if that was said and is known.
        public var scheme: Scheme?
        /// What the client called the outermost proxy, if that was said and is a host (ruling 36).
        public var host: Authority?
    }

    /// What a request from a proxy is called: as the proxy calls it by `X-Request-Id`, if that is a
    /// name, else by our own id (H205). Nobody but a trusted peer is to be asked about.
    public func id(of fields: Fields, or own: RequestID) -> RequestID {
        own.adopting(fields.octets("X-Request-Id"))
    }

    /// Reads who stands behind a proxy.
    ///
    /// The list is walked from its end: each proxy vouches for the element it added, as long as it is
    /// trusted itself. The first address that is not is the client's; what stands before it was
    /// written by the client.
    ///
    /// - Parameter peer: A trusted peer; anybody else must not be asked about.
    public func origin(of fields: Fields, from peer: PeerAddress) -> Origin {
        var origin = Origin(client: peer)
        switch source {
        case .none: break
        case .forwarded:
            var elements = ElementsFromEnd(fields, "Forwarded", quoted: true)
            for _ in 0..<maximumHops {
                guard
                    let element = elements.next(), let hop = ForwardedElement(element),
                    let client = hop.client
                else { break }
                origin = Origin(client: client, scheme: hop.scheme, host: hop.host)
                guard includes(client) else { break }
            }
        case .xForwarded:
            var elements = ElementsFromEnd(fields, "X-Forwarded-For", quoted: false)
            var schemes = ElementsFromEnd(fields, "X-Forwarded-Proto", quoted: false)
            var hosts = ElementsFromEnd(fields, "X-Forwarded-Host", quoted: false)
            var ports = ElementsFromEnd(fields, "X-Forwarded-Port", quoted: false)
            var port: UInt16?
            for _ in 0..<maximumHops {
                guard
                    let element = elements.next(),
                    let client = PeerAddress(node: element, bracketed: false)
                else { break }
                origin.client = client
                // Most proxies pass the one of the outermost on: the last one said counts on.
                if let scheme = schemes.next() { origin.scheme = Scheme(scheme) }
                if let host = hosts.next() { origin.host = Authority(host) }
                if let digits = ports.next() { port = Authority.port(digits) }
                guard includes(client) else { break }
            }
            if port != origin.scheme?.port { origin.host = origin.host?.adding(port: port) }
        }
        return origin
    }
}
