/// A request head as the parser leaves it: the request and what it means for the connection.
public struct RequestHead: Sendable {
    /// `nil` for a well-formed method outside ``Method`` (H12).
    public let method: Method?
    /// Whether the method is `TRACE`, which no service is asked to answer (H20).
    public let isTrace: Bool
    /// The target, in origin form or `*`.
    public let target: RequestTarget
    /// The fields, without those that `Connection` names as hop-by-hop (H31).
    public let fields: Fields
    /// How the body is delimited.
    public let framing: BodyFraming
    /// True for HTTP/1.0.
    public let isHTTP10: Bool
    /// Whether the peer wants the connection kept (H78, H79).
    public let persists: Bool
    /// Whether the peer waits for `100 Continue` (H73).
    public let expectsContinue: Bool
    /// A fault that is answered without closing the connection (H12, H37, H57).
    public let recoverableRefusal: Refusal?

    /// The request of this head, with what its connection knows; the head ends in it.
    public consuming func request(
        _ method: Method, id: RequestID, peer: PeerAddress, scheme: Scheme, client: ClientIdentity?,
        isProxied: Bool = false, forwardedHost: Authority? = nil
    ) -> Request {
        Request(
            method: method, target: target, fields: fields, framing: framing, isHTTP10: isHTTP10,
            id: id, peer: peer, scheme: scheme, client: client, isProxied: isProxied,
            forwardedHost: forwardedHost)
    }
}

/// Makes sense of a head whose grammar holds: framing, host, singletons, connection (H5).
///
/// The one place where a framing decision is made.
struct RequestHeadReader {
    let method: Range<Int>
    let target: Range<Int>
    let versionStart: Int

    /// Judges the head; the first rule broken decides.
    ///
    /// - Parameter copy: Its bytes, once more, for its fields.
    func read(
        _ bytes: Span<UInt8>, _ lines: [Fields.Line], copy: consuming [UInt8],
        allowedHosts: [String]
    ) throws(Refusal) -> RequestHead {
        let isHTTP10 = bytes[versionStart + 7] == UInt8(ascii: "0")
        let known = try KnownFields(bytes, lines)
        let isConnect = method.count == 7 && bytes[method.lowerBound] == UInt8(ascii: "C")
        let name = bytes.packed(method)
        let method = name.flatMap(Method.init(packed:))
        let parts = try checkTarget(bytes, method, isConnect: isConnect)
        try checkHost(bytes, lines, known, isHTTP10: isHTTP10)
        let framing = try readFraming(bytes, lines, known, isHTTP10: isHTTP10)
        let connection =
            known.hasConnection ? try ConnectionOptions(bytes, lines) : ConnectionOptions()
        var expectsContinue = false
        if let expect = known[.expect], !isHTTP10 {
            guard bytes.matches("100-continue", in: lines[expect].value) else {
                throw Refusal(
                    .expectationFailed, "H75", "The only expectation met is 100-continue.")
            }
            expectsContinue = framing.announcesContent
        }
        guard !isConnect else { throw Refusal(.notImplemented, "H19", "This server is no tunnel.") }
        return RequestHead(
            method: method, isTrace: name == 0x54_5241_4345, target: readTarget(bytes, parts),
            fields: Fields(
                bytes: copy, lines: connection.endToEnd(lines, bytes)),
            framing: framing, isHTTP10: isHTTP10,
            persists: isHTTP10 ? connection.keepsAlive && !connection.closes : !connection.closes,
            expectsContinue: expectsContinue,
            recoverableRefusal: recoverableRefusal(
                bytes, lines, known, authority: parts.authority, allowedHosts: allowedHosts))
    }

    /// Length, chunks or nothing; never a choice between two (H40–H43).
    private func readFraming(
        _ bytes: Span<UInt8>, _ lines: [Fields.Line], _ known: KnownFields, isHTTP10: Bool
    ) throws(Refusal) -> BodyFraming {
        switch (known[.transferEncoding], known[.contentLength]) {
        case (nil, nil): return .none
        case (nil, let length?):
            guard let length = bytes.decimal(in: lines[length].value) else {
                throw Refusal(.badRequest, "H43", "Content-Length is not a plain decimal number.")
            }
            return .length(length)
        case (_?, _?):
            // Both at once is how requests are smuggled past proxies (RFC 9112 §11.2): never choose.
            throw Refusal(
                .badRequest, "H40", "Content-Length and Transfer-Encoding exclude each other.")
        case (let coding?, nil):
            guard !isHTTP10 else {
                throw Refusal(.badRequest, "H42", "HTTP/1.0 knows no transfer codings.")
            }
            if bytes.matches("chunked", in: lines[coding].value) { return .chunked }
            throw Self.transferCodingRefusal(bytes.array(lines[coding].value)[...])
        }
    }

    /// A well-formed list of other codings that ends in `chunked` is 501; all else is 400 (H41).
    private static func transferCodingRefusal(_ value: ArraySlice<UInt8>) -> Refusal {
        let codings = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { coding in coding.trimmingBlanks }
        let isList =
            codings.count > 1
            && codings.allSatisfy { coding in
                !coding.isEmpty
                    && coding.allSatisfy { byte in ByteClass.token.contains(byte) }
            }
            && codings.last?.isEqualIgnoringCase("chunked".utf8) == true
            && !codings.dropLast().contains { coding in
                coding.isEqualIgnoringCase("chunked".utf8)
                    || coding.isEqualIgnoringCase("identity".utf8)
            }
        return isList
            ? Refusal(.notImplemented, "H41", "The only transfer coding spoken here is chunked.")
            : Refusal(.badRequest, "H41", "Transfer-Encoding must be exactly 'chunked'.")
    }

    /// Faults that leave the framing certain, so the connection may go on.
    private func recoverableRefusal(
        _ bytes: Span<UInt8>, _ lines: [Fields.Line], _ known: KnownFields,
        authority: Range<Int>?, allowedHosts: [String]
    ) -> Refusal? {
        if !allowedHosts.isEmpty,
            let host = authority ?? known[.host].map({ index in lines[index].value }),
            !Self.isAllowed(bytes.array(host)[...], allowedHosts)
        {
            return Refusal(
                .misdirected, "H37",
                "This server does not answer for that host.")
        }
        if known.cookiePairs > 64 {
            return Refusal(.badRequest, "H57", "There are more than 64 cookies.")
        }
        if known.acceptRanges > 64 {
            return Refusal(.badRequest, "H57", "An Accept field lists more than 64 ranges.")
        }
        return nil
    }

    /// Compares without port and without one dot at the end (H37).
    private static func isAllowed(_ host: ArraySlice<UInt8>, _ allowedHosts: [String]) -> Bool {
        var name = host
        if name.last != UInt8(ascii: "]"), let colon = name.lastIndex(of: UInt8(ascii: ":")) {
            name = name[..<colon]
        }
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        return allowedHosts.contains { allowed in name.isEqualIgnoringCase(allowed.utf8) }
    }
}

extension Span<UInt8> {
    /// The bytes of a range as one number; `nil` for more than seven, as no method has them.
    fileprivate func packed(_ range: Range<Int>) -> UInt64? {
        guard range.count <= 7 else { return nil }
        var packed: UInt64 = 0
        for index in range { packed = packed << 8 | UInt64(self[index]) }
        return packed
    }
}

extension Method {
    /// Reads a method; `nil` for one outside the list. Case-sensitive (H12).
    fileprivate init?(packed: UInt64) {
        switch packed {
        case 0x474554: self = .get
        case 0x48454144: self = .head
        case 0x504F5354: self = .post
        case 0x505554: self = .put
        case 0x5041544348: self = .patch
        case 0x44454C455445: self = .delete
        case 0x4F5054494F4E53: self = .options
        default: return nil
        }
    }
}

// Whom a request is for: the target and the host (RFC 9112 §3.2).
extension RequestHeadReader {
    /// Where the parts of a target stand.
    struct TargetParts {
        /// The authority of an absolute form, which replaces Host (H16).
        var authority: Range<Int>?
        /// Empty only behind an authority.
        var path: Range<Int>
        /// Without its `?`.
        var query: Range<Int>?
    }

    /// The four forms of a target (RFC 9112 §3.2), told apart and checked (H15–H18).
    func checkTarget(
        _ bytes: Span<UInt8>, _ method: Method?, isConnect: Bool
    ) throws(Refusal) -> TargetParts {
        guard !target.isEmpty else { throw .target }
        if isConnect {
            guard isHost(bytes, target, needsPort: true) else { throw .target }
            return TargetParts(path: target)
        }
        let first = bytes[target.lowerBound]
        if first == UInt8(ascii: "/") { return try checkPath(bytes, target) }
        if first == UInt8(ascii: "*"), target.count == 1 {
            guard method == .options else {
                throw Refusal(.badRequest, "H17", "Only OPTIONS has the target '*'.")
            }
            return TargetParts(path: target)
        }
        return try checkAbsolute(bytes)
    }

    private func checkAbsolute(_ bytes: Span<UInt8>) throws(Refusal) -> TargetParts {
        let scheme =
            ["http://", "https://"].first { (scheme: FieldName) in
                let end = target.lowerBound + scheme.text.utf8CodeUnitCount
                return end <= target.upperBound
                    && bytes.matches(scheme, in: target.lowerBound..<end)
            }
        guard let scheme else {
            throw Refusal(
                .badRequest, "H17", "The request target is neither a path nor an http URL.")
        }
        let start = target.lowerBound + scheme.text.utf8CodeUnitCount
        let rest = start..<target.upperBound
        let end = min(
            bytes.firstIndex(of: UInt8(ascii: "/"), in: rest) ?? target.upperBound,
            bytes.firstIndex(of: UInt8(ascii: "?"), in: rest) ?? target.upperBound)
        guard isHost(bytes, start..<end) else {
            throw Refusal(.badRequest, "H16", "The URL's host is malformed.")
        }
        var parts = try checkPath(bytes, end..<target.upperBound)
        parts.authority = start..<end
        return parts
    }

    private func checkPath(
        _ bytes: Span<UInt8>, _ range: Range<Int>
    ) throws(Refusal) -> TargetParts {
        let mark = bytes.end(of: .path, from: range.lowerBound, to: range.upperBound)
        if mark == range.upperBound { return TargetParts(path: range) }
        guard bytes[mark] == UInt8(ascii: "?"),
            bytes.end(of: .query, from: mark, to: range.upperBound) == range.upperBound
        else {
            throw Refusal(.badRequest, "H15", "The request target holds a forbidden character.")
        }
        return TargetParts(path: range.lowerBound..<mark, query: (mark + 1)..<range.upperBound)
    }

    func readTarget(_ bytes: Span<UInt8>, _ parts: TargetParts) -> RequestTarget {
        RequestTarget(
            path: parts.path.isEmpty ? "/" : bytes.text(parts.path),
            query: parts.query.map { query in bytes.text(query) })
    }

    /// Exactly one valid Host; only HTTP/1.0 may leave it out (H34–H36).
    func checkHost(
        _ bytes: Span<UInt8>, _ lines: [Fields.Line], _ known: KnownFields, isHTTP10: Bool
    ) throws(Refusal) {
        guard let host = known[.host] else {
            guard isHTTP10 else { throw Refusal(.badRequest, "H34", "The Host field is missing.") }
            return
        }
        guard isHost(bytes, lines[host].value) else {
            throw Refusal(.badRequest, "H35", "The Host field is malformed.")
        }
    }

    /// reg-name, IPv4 or bracketed IPv6, then optionally `:` and a port (H35).
    private func isHost(_ bytes: Span<UInt8>, _ range: Range<Int>, needsPort: Bool = false) -> Bool
    {
        guard !range.isEmpty else { return false }
        let first = bytes[range.lowerBound]
        let end: Int
        if first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]"), in: range) else {
                return false
            }
            guard IPv6Text.address(bytes.array((range.lowerBound + 1)..<bracket)) != nil else {
                return false
            }
            end = bracket + 1
        } else {
            end = bytes.end(of: .host, from: range.lowerBound, to: range.upperBound)
            // A name starts neither with a dot nor with nothing.
            guard end > range.lowerBound, first != UInt8(ascii: ".") else { return false }
        }
        guard end < range.upperBound else { return !needsPort }
        guard bytes[end] == UInt8(ascii: ":") else { return false }
        if end + 1 == range.upperBound { return !needsPort }
        guard let port = bytes.decimal(in: (end + 1)..<range.upperBound) else { return false }
        return port <= 65_535
    }
}

extension Refusal {
    fileprivate static let target = Refusal(.badRequest, "H15", "The request target is malformed.")
}
