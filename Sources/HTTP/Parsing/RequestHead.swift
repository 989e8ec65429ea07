/// A parsed request head: the request and its effect on the connection.
public struct RequestHead: Sendable {
    /// The method; `nil` for a well-formed method that is not in ``Method`` (H12).
    public let method: Method?
    /// Whether the method is `TRACE`, which is answered without calling the service (H20).
    public let isTrace: Bool
    /// The target, in origin form or `*`.
    public let target: RequestTarget
    /// The header fields, without those that `Connection` names as hop-by-hop (H31).
    public let fields: Fields
    /// How the body is delimited.
    public let framing: BodyFraming
    /// True for HTTP/1.0.
    public let isHTTP10: Bool
    /// Whether the peer wants to keep the connection (H78, H79).
    public let persists: Bool
    /// Whether the peer waits for `100 Continue` (H73).
    public let expectsContinue: Bool
    /// A refusal after which the connection can be kept (H12, H37, H57).
    public let recoverableRefusal: Refusal?

    /// The request of this head, with the peer, scheme and client of its connection. Consumes the head.
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

/// Interprets a head whose grammar is valid: framing, host, singleton fields, connection (H5).
///
/// The only place where the framing is decided.
struct RequestHeadReader {
    let method: Range<Int>
    let target: Range<Int>
    let versionStart: Int

    /// Interprets the head; the first violated rule is thrown.
    ///
    /// - Parameter copy: A copy of its bytes, for its fields.
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
                    .expectationFailed, "H75", "The only supported expectation is 100-continue.")
            }
            expectsContinue = framing.announcesContent
        }
        guard !isConnect else { throw Refusal(.notImplemented, "H19", "CONNECT is not supported.") }
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

    /// Length, chunks or no body; contradictory fields are refused (H40–H43).
    private func readFraming(
        _ bytes: Span<UInt8>, _ lines: [Fields.Line], _ known: KnownFields, isHTTP10: Bool
    ) throws(Refusal) -> BodyFraming {
        switch (known[.transferEncoding], known[.contentLength]) {
        case (nil, nil): return .none
        case (nil, let length?):
            guard let length = bytes.decimal(in: lines[length].value) else {
                throw Refusal(
                    .badRequest, "H43", "Content-Length must be one decimal number below 2^63.")
            }
            return .length(length)
        case (_?, _?):
            // Requests with both are used to smuggle requests past proxies (RFC 9112 §11.2).
            throw Refusal(
                .badRequest, "H40", "Content-Length and Transfer-Encoding exclude each other.")
        case (let coding?, nil):
            guard !isHTTP10 else {
                throw Refusal(.badRequest, "H42", "HTTP/1.0 has no transfer codings.")
            }
            if bytes.matches("chunked", in: lines[coding].value) { return .chunked }
            throw Self.transferCodingRefusal(bytes.array(lines[coding].value)[...])
        }
    }

    /// 501 for a well-formed list of other codings that ends in `chunked`; 400 for anything else
    /// (H41).
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
            ? Refusal(.notImplemented, "H41", "The only supported transfer coding is chunked.")
            : Refusal(.badRequest, "H41", "Transfer-Encoding must be exactly 'chunked'.")
    }

    /// Faults that leave the framing certain, so that the connection can be kept.
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
                "This server does not serve that host.")
        }
        if known.cookiePairs > 64 {
            return Refusal(.badRequest, "H57", "There are more than 64 cookies.")
        }
        if known.acceptRanges > 64 {
            return Refusal(.badRequest, "H57", "An Accept field lists more than 64 ranges.")
        }
        return nil
    }

    /// Compares without port and without one final dot (H37).
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
    /// The bytes of a range as one number; `nil` for more than seven, which no method has.
    fileprivate func packed(_ range: Range<Int>) -> UInt64? {
        guard range.count <= 7 else { return nil }
        var packed: UInt64 = 0
        for index in range { packed = packed << 8 | UInt64(self[index]) }
        return packed
    }
}

extension Method {
    /// The method of packed bytes; `nil` for other methods. Case-sensitive (H12).
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

// Target and host (RFC 9112 §3.2).
extension RequestHeadReader {
    /// The positions of a target's parts.
    private struct TargetParts {
        /// The authority of an absolute form, which replaces Host (H16).
        var authority: Range<Int>?
        /// The path; empty only after an authority.
        var path: Range<Int>
        /// The query without its `?`.
        var query: Range<Int>?
    }

    /// Recognizes and validates the four forms of a target (RFC 9112 §3.2; H15–H18).
    private func checkTarget(
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
            throw Refusal(.badRequest, "H15", "The request target contains a forbidden character.")
        }
        return TargetParts(path: range.lowerBound..<mark, query: (mark + 1)..<range.upperBound)
    }

    private func readTarget(_ bytes: Span<UInt8>, _ parts: TargetParts) -> RequestTarget {
        RequestTarget(
            path: parts.path.isEmpty ? "/" : bytes.text(parts.path),
            query: parts.query.map { query in bytes.text(query) })
    }

    /// Requires exactly one valid Host; HTTP/1.0 may omit it (H34–H36).
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

    /// Whether a range is a registered name, IPv4 or bracketed IPv6 address, optionally with `:`
    /// and a port (H35).
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
            // A name must not be empty or start with a dot.
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
