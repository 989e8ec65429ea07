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
        own.adopting(fields.bytes("X-Request-Id"))
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
            var elements = ReverseElements(fields, "Forwarded", quoted: true)
            for _ in 0..<maximumHops {
                guard
                    let element = elements.next(), let hop = ForwardedElement(element),
                    let client = hop.client
                else { break }
                origin = Origin(client: client, scheme: hop.scheme, host: hop.host)
                guard includes(client) else { break }
            }
        case .xForwarded:
            var elements = ReverseElements(fields, "X-Forwarded-For", quoted: false)
            var schemes = ReverseElements(fields, "X-Forwarded-Proto", quoted: false)
            var hosts = ReverseElements(fields, "X-Forwarded-Host", quoted: false)
            var ports = ReverseElements(fields, "X-Forwarded-Port", quoted: false)
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

/// One element of `Forwarded`: what one proxy knew of its own client (RFC 7239 §4).
struct ForwardedElement {
    /// `for`, when it is an address.
    private(set) var client: PeerAddress?
    /// `proto`, when it is known.
    private(set) var scheme: Scheme?
    /// `host`, when it is one.
    private(set) var host: Authority?

    /// Reads `name=value` pairs between semicolons, values being tokens or quoted strings; `nil` for
    /// anything else, and for a name that comes twice.
    init?(_ element: ArraySlice<UInt8>) {
        var rest = element
        var names: [ArraySlice<UInt8>] = []
        while !rest.isEmpty {
            let name = rest.prefix { byte in ByteClass.token.contains(byte) }
            rest = rest[name.endIndex...]
            if name.isEmpty {
                // An empty pair is allowed, as in `for=192.0.2.1;`.
                guard rest.first == UInt8(ascii: ";") else { return nil }
                rest = rest.dropFirst()
                continue
            }
            guard
                rest.first == UInt8(ascii: "="),
                !names.contains(where: { other in other.isEqualIgnoringCase(name) }),
                let value = Self.value(of: &rest),
                rest.isEmpty || rest.first == UInt8(ascii: ";")
            else { return nil }
            names.append(name)
            rest = rest.dropFirst()
            if name.isEqualIgnoringCase("for".utf8) {
                client = PeerAddress(node: value, bracketed: true)
            } else if name.isEqualIgnoringCase("proto".utf8) {
                scheme = Scheme(value)
            } else if name.isEqualIgnoringCase("host".utf8) {
                host = Authority(value)
            }
        }
    }

    /// Takes `=` and the token or quoted string behind it.
    private static func value(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        rest = rest.dropFirst()
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { byte in ByteClass.token.contains(byte) }
            rest = rest[token.endIndex...]
            return token.isEmpty ? nil : token
        }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while var byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return text[...] }
            if byte == UInt8(ascii: "\\") {
                guard let escaped = rest.popFirst() else { return nil }
                byte = escaped
            }
            text.append(byte)
        }
        return nil
    }
}

/// The elements of a list field from its end: all lines of that name are one list (H200).
///
/// From the end, because what the nearest proxy appended must be found whatever a client wrote in
/// front of it: an unbalanced quote there ends the walk, and does not swallow what follows.
struct ReverseElements: IteratorProtocol {
    private let bytes: [UInt8]
    private var lines: [Range<Int>]
    private let isQuoted: Bool
    /// Where the part of the last line ends that was not given yet; `nil` between two lines.
    private var end: Int?

    /// - Parameter isQuoted: Whether elements may hold quoted strings, and commas inside them.
    init(_ fields: Fields, _ name: FieldName, quoted isQuoted: Bool) {
        let bytes = fields.bytes
        lines = fields.lines.filter { line in bytes.span.matches(name, in: line.name) }
            .map(\.value)
        self.bytes = bytes
        self.isQuoted = isQuoted
    }

    /// The next element to the left, without blanks around it; empty ones are skipped
    /// (RFC 9110 §5.6.1.2). `nil` at the beginning, and for good at a quote that was never opened.
    mutating func next() -> ArraySlice<UInt8>? {
        while let line = lines.last {
            let end = end ?? line.upperBound
            guard let start = start(of: line.lowerBound..<end) else {
                lines = []
                return nil
            }
            if start == line.lowerBound {
                lines.removeLast()
                self.end = nil
            } else {
                // In front of the comma.
                self.end = start - 1
            }
            let element = bytes[start..<end].trimmingBlanks
            if !element.isEmpty { return element }
        }
        return nil
    }

    /// Where the last element of a part of a line begins.
    private func start(of range: Range<Int>) -> Int? {
        var place = range.upperBound
        while place > range.lowerBound {
            let byte = bytes[place - 1]
            if byte == UInt8(ascii: ",") { return place }
            place -= 1
            if isQuoted, byte == UInt8(ascii: "\"") {
                guard let quote = opening(in: range.lowerBound..<place) else { return nil }
                place = quote
            }
        }
        return range.lowerBound
    }

    /// The quote that opens the string which ends at the end of a range: the last one that is not
    /// escaped itself, by an odd number of backslashes in front of it.
    private func opening(in range: Range<Int>) -> Int? {
        var place = range.upperBound
        while let quote = bytes[range.lowerBound..<place].lastIndex(of: UInt8(ascii: "\"")) {
            let before = bytes[range.lowerBound..<quote]
            let escapes = before.reversed().prefix { byte in byte == UInt8(ascii: "\\") }.count
            if escapes % 2 == 0 { return quote }
            place = quote
        }
        return nil
    }
}
