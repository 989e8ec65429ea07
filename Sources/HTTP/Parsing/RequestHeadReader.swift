/// Makes sense of a head whose grammar holds: framing, host, singletons, connection (H5).
///
/// The one place where a framing decision is made.
struct RequestHeadReader {
    let method: Range<Int>
    let target: Range<Int>
    let versionStart: Int
    let lines: [Fields.Line]
    let limits: HeadLimits

    /// Judges the head, which ends at `count`; the first rule broken decides.
    func read(_ octets: Span<UInt8>, count: Int) throws(Refusal) -> RequestHead {
        let isHTTP10 = octets[versionStart + 7] == UInt8(ascii: "0")
        let known = try KnownFields(octets, lines)
        let isConnect = method.count == 7 && octets[method.lowerBound] == UInt8(ascii: "C")
        let method = Method(octets, method)
        let authority = try checkTarget(octets, method, isConnect: isConnect)
        try checkHost(octets, known, isHTTP10: isHTTP10)
        let framing = try readFraming(octets, known, isHTTP10: isHTTP10)
        let connection = try ConnectionOptions(
            octets, known.connection.map { index in lines[index] })
        var expectsContinue = false
        if let expect = known[.expect], !isHTTP10 {
            guard octets.matches("100-continue", in: lines[expect].value) else {
                throw Refusal(
                    .expectationFailed, "H75", "The only expectation met is 100-continue.")
            }
            expectsContinue = framing.announcesContent
        }
        guard !isConnect else { throw Refusal(.notImplemented, "H19", "This server is no tunnel.") }
        return RequestHead(
            method: method, target: readTarget(octets, after: authority),
            fields: Fields(
                octets: octets.array(0..<count), lines: connection.endToEnd(lines, octets)),
            framing: framing, isHTTP10: isHTTP10,
            persists: isHTTP10 ? connection.keepsAlive && !connection.closes : !connection.closes,
            expectsContinue: expectsContinue,
            objection: objection(octets, known, authority: authority))
    }

    /// The four forms of a target (RFC 9112 §3.2).
    ///
    /// - Returns: The authority of an absolute form, which replaces Host (H15–H18).
    private func checkTarget(
        _ octets: Span<UInt8>, _ method: Method?, isConnect: Bool
    ) throws(Refusal) -> Range<Int>? {
        guard let first = target.first.map({ index in octets[index] }) else { throw .target }
        if isConnect {
            guard isHost(octets, target, needsPort: true) else { throw .target }
            return nil
        }
        if first == UInt8(ascii: "/") {
            try checkPath(octets, target)
            return nil
        }
        if first == UInt8(ascii: "*"), target.count == 1 {
            guard method == .options else {
                throw Refusal(.badRequest, "H17", "Only OPTIONS has the target '*'.")
            }
            return nil
        }
        let scheme =
            ["http://", "https://"].first { (scheme: FieldName) in
                let end = target.lowerBound + scheme.text.utf8CodeUnitCount
                return end <= target.upperBound
                    && octets.matches(scheme, in: target.lowerBound..<end)
            }
        guard let scheme else {
            throw Refusal(
                .badRequest, "H17", "The request target is neither a path nor an http URL.")
        }
        let start = target.lowerBound + scheme.text.utf8CodeUnitCount
        let rest = start..<target.upperBound
        let end = min(
            octets.firstIndex(of: UInt8(ascii: "/"), in: rest) ?? target.upperBound,
            octets.firstIndex(of: UInt8(ascii: "?"), in: rest) ?? target.upperBound)
        guard isHost(octets, start..<end) else {
            throw Refusal(.badRequest, "H16", "The URL's host is malformed.")
        }
        try checkPath(octets, end..<target.upperBound)
        return start..<end
    }

    private func checkPath(_ octets: Span<UInt8>, _ range: Range<Int>) throws(Refusal) {
        let mark = octets.firstIndex(of: UInt8(ascii: "?"), in: range) ?? range.upperBound
        guard
            octets.allOctets(in: range.lowerBound..<mark, are: .path),
            octets.allOctets(in: mark..<range.upperBound, are: .query)
        else {
            throw Refusal(.badRequest, "H15", "The request target holds a forbidden character.")
        }
    }

    private func readTarget(_ octets: Span<UInt8>, after authority: Range<Int>?) -> RequestTarget {
        let range = (authority?.upperBound ?? target.lowerBound)..<target.upperBound
        let mark = octets.firstIndex(of: UInt8(ascii: "?"), in: range)
        let path = octets.text(range.lowerBound..<(mark ?? range.upperBound))
        return RequestTarget(
            path: path.isEmpty ? "/" : path,
            query: mark.map { mark in octets.text((mark + 1)..<range.upperBound) })
    }

    /// Exactly one valid Host; only HTTP/1.0 may leave it out (H34–H36).
    private func checkHost(
        _ octets: Span<UInt8>, _ known: KnownFields, isHTTP10: Bool
    ) throws(Refusal) {
        guard let host = known[.host] else {
            guard isHTTP10 else { throw Refusal(.badRequest, "H34", "The Host field is missing.") }
            return
        }
        guard isHost(octets, lines[host].value) else {
            throw Refusal(.badRequest, "H35", "The Host field is malformed.")
        }
    }

    /// reg-name, IPv4 or bracketed IPv6, then optionally `:` and a port (H35).
    private func isHost(_ octets: Span<UInt8>, _ range: Range<Int>, needsPort: Bool = false) -> Bool
    {
        guard let first = range.first.map({ index in octets[index] }) else { return false }
        let end: Int
        if first == UInt8(ascii: "[") {
            guard let bracket = octets.firstIndex(of: UInt8(ascii: "]"), in: range) else {
                return false
            }
            guard IPv6Text.address(octets.array((range.lowerBound + 1)..<bracket)) != nil else {
                return false
            }
            end = bracket + 1
            guard end == range.upperBound || octets[end] == UInt8(ascii: ":") else { return false }
        } else {
            end = octets.firstIndex(of: UInt8(ascii: ":"), in: range) ?? range.upperBound
            // A name starts neither with a dot nor with nothing.
            guard end > range.lowerBound, first != UInt8(ascii: ".") else { return false }
            guard octets.allOctets(in: range.lowerBound..<end, are: .host) else { return false }
        }
        guard end < range.upperBound else { return !needsPort }
        if end + 1 == range.upperBound { return !needsPort }
        guard let port = octets.decimal(in: (end + 1)..<range.upperBound) else { return false }
        return port <= 65_535
    }

    /// Length, chunks or nothing; never a choice between two (H40–H43).
    private func readFraming(
        _ octets: Span<UInt8>, _ known: KnownFields, isHTTP10: Bool
    ) throws(Refusal) -> BodyFraming {
        switch (known[.transferEncoding], known[.contentLength]) {
        case (nil, nil): return .none
        case (nil, let length?):
            guard let length = octets.decimal(in: lines[length].value) else {
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
            if octets.matches("chunked", in: lines[coding].value) { return .chunked }
            throw Self.transferCodingRefusal(octets.array(lines[coding].value)[...])
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
                    && coding.allSatisfy { octet in OctetClass.table[Int(octet)].contains(.token) }
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
    private func objection(
        _ octets: Span<UInt8>, _ known: KnownFields, authority: Range<Int>?
    ) -> Refusal? {
        if !limits.allowedHosts.isEmpty,
            let host = authority ?? known[.host].map({ index in lines[index].value }),
            !isAllowed(octets.array(host)[...])
        {
            return Refusal(
                Status(421, "Misdirected Request"), "H37",
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
    private func isAllowed(_ host: ArraySlice<UInt8>) -> Bool {
        var name = host
        if name.last != UInt8(ascii: "]"), let colon = name.lastIndex(of: UInt8(ascii: ":")) {
            name = name[..<colon]
        }
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        return limits.allowedHosts.contains { allowed in name.isEqualIgnoringCase(allowed.utf8) }
    }
}

extension Refusal {
    fileprivate static let target = Refusal(.badRequest, "H15", "The request target is malformed.")
}

extension Method {
    /// Reads a method; `nil` for one outside the list. Case-sensitive (H12).
    fileprivate init?(_ octets: Span<UInt8>, _ range: Range<Int>) {
        guard range.count <= 7 else { return nil }
        var packed: UInt64 = 0
        for index in range { packed = packed << 8 | UInt64(octets[index]) }
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
