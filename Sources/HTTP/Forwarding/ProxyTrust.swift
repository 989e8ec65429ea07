/// The trusted proxies and the header field from which the client's address is read (H198–H201).
///
/// From other peers the fields are ignored, and so is every field that was not chosen here.
public struct ProxyTrust: Sendable, Equatable {
    /// The field that has the client's address.
    public enum Source: String, Sendable, CaseIterable {
        /// None: the peer of the socket is the client.
        case none
        /// `Forwarded` (RFC 7239).
        case forwarded
        /// `X-Forwarded-For`, `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Port`.
        case xForwarded = "x-forwarded"
    }

    /// The addresses of trusted proxies; none by default.
    public var proxies: [AddressBlock] = []
    /// The field that has the client's address.
    public var source = Source.none
    /// How many elements of the list are read (H199).
    public var maximumHops = 16

    /// Trusts no proxy.
    public init() {}

    /// Whether a peer is a trusted proxy.
    public func includes(_ peer: PeerAddress) -> Bool {
        proxies.contains { block in block.contains(peer) }
    }

    /// The origin of a request as reported by trusted proxies.
    public struct Origin: Sendable, Equatable {
        /// The client's address.
        public var client: PeerAddress
        /// The scheme between client and outermost proxy, if reported and known.
        public var scheme: Scheme?
        /// The host that the client requested from the outermost proxy, if reported and valid
        /// (ruling 36).
        public var host: Authority?
    }

    /// The id of a request from a trusted proxy: the proxy's `X-Request-Id` if it is valid,
    /// otherwise our own (H205). Only to be called for trusted peers.
    public func id(of fields: Fields, or own: RequestID) -> RequestID {
        own.adopting(fields.bytes("X-Request-Id"))
    }

    /// Finds the client behind trusted proxies.
    ///
    /// The list is read from its end: each proxy confirms the element it appended, as long as it is
    /// trusted itself. The first address that is not trusted is the client's; elements before it
    /// were written by the client.
    ///
    /// - Parameter peer: A trusted peer. Must not be called for others.
    public func origin(of fields: Fields, from peer: PeerAddress) -> Origin {
        var origin = Origin(client: peer)
        switch source {
        case .none: break
        case .forwarded:
            var elements = ReverseElements(fields, "Forwarded", quoted: true)
            for _ in 0..<maximumHops {
                guard let element = elements.next(), let hop = ForwardedElement(element)
                else { break }
                // An element without an address, such as `for=unknown`, still reports scheme and host.
                (origin.scheme, origin.host) = (hop.scheme, hop.host)
                guard let client = hop.client else { break }
                origin.client = client
                guard includes(client) else { break }
            }
        case .xForwarded:
            var elements = ReverseElements(fields, "X-Forwarded-For", quoted: false)
            var schemes = ReverseElements(fields, "X-Forwarded-Proto", quoted: false)
            var hosts = ReverseElements(fields, "X-Forwarded-Host", quoted: false)
            var ports = ReverseElements(fields, "X-Forwarded-Port", quoted: false)
            var port: UInt16?
            for hop in 0..<maximumHops {
                let client = elements.next().flatMap { element in
                    PeerAddress(node: element, bracketed: false)
                }
                // The peer may report scheme and host without an address.
                guard client != nil || hop == 0 else { break }
                // Most proxies pass on the value of the outermost one, so the last value read
                // remains valid.
                if let scheme = schemes.next() { origin.scheme = Scheme(scheme) }
                if let host = hosts.next() { origin.host = Authority(host) }
                if let digits = ports.next() { port = Authority.port(digits) }
                guard let client else { break }
                origin.client = client
                guard includes(client) else { break }
            }
            if port != origin.scheme?.port { origin.host = origin.host?.adding(port: port) }
        }
        return origin
    }
}

/// One element of `Forwarded`: what one proxy reports of its client (RFC 7239 §4).
private struct ForwardedElement {
    /// `for`, when it is an address.
    private(set) var client: PeerAddress?
    /// `proto`, when it is known.
    private(set) var scheme: Scheme?
    /// `host`, when it is valid.
    private(set) var host: Authority?

    /// Parses `name=value` pairs separated by semicolons, with tokens or quoted strings as values;
    /// `nil` for anything else and for a repeated name.
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

    /// Consumes `=` and the token or quoted string after it.
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

/// Iterates over the elements of a list field from its end; all lines of that name form one list
/// (H200).
///
/// From the end, because the elements that trusted proxies appended must be found whatever a client
/// wrote before them: an unbalanced quote there ends the iteration and does not quote the
/// elements after it.
private struct ReverseElements: IteratorProtocol {
    private let bytes: [UInt8]
    private var lines: [Range<Int>]
    private let isQuoted: Bool
    /// The end of the unread part of the last line; `nil` between two lines.
    private var end: Int?

    /// - Parameter isQuoted: Whether elements may contain quoted strings, and commas inside them.
    init(_ fields: Fields, _ name: FieldName, quoted isQuoted: Bool) {
        let bytes = fields.bytes
        lines = fields.lines.filter { line in bytes.span.matches(name, in: line.name) }
            .map(\.value)
        self.bytes = bytes
        self.isQuoted = isQuoted
    }

    /// The next element to the left, without surrounding blanks; empty elements are skipped
    /// (RFC 9110 §5.6.1.2). `nil` at the start, and from then on at a quote that was never opened.
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
                // Before the comma.
                self.end = start - 1
            }
            let element = bytes[start..<end].trimmingBlanks
            if !element.isEmpty { return element }
        }
        return nil
    }

    /// The start of the last element in a part of a line.
    private func start(of range: Range<Int>) -> Int? {
        var position = range.upperBound
        while position > range.lowerBound {
            let byte = bytes[position - 1]
            if byte == UInt8(ascii: ",") { return position }
            position -= 1
            if isQuoted, byte == UInt8(ascii: "\"") {
                guard let quote = opening(in: range.lowerBound..<position) else { return nil }
                position = quote
            }
        }
        return range.lowerBound
    }

    /// The quote that opens the string ending at the end of a range: the last one not escaped by an
    /// odd number of backslashes before it.
    private func opening(in range: Range<Int>) -> Int? {
        var position = range.upperBound
        while let quote = bytes[range.lowerBound..<position].lastIndex(of: UInt8(ascii: "\"")) {
            let before = bytes[range.lowerBound..<quote]
            let escapes = before.reversed().prefix { byte in byte == UInt8(ascii: "\\") }.count
            if escapes % 2 == 0 { return quote }
            position = quote
        }
        return nil
    }
}
