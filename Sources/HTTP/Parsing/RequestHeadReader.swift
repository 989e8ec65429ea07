/// Makes sense of a head whose grammar holds: framing, host, singletons, connection (H5).
///
/// The one place where a framing decision is made.
struct RequestHeadReader {
    let method: Range<Int>
    let target: Range<Int>
    let versionStart: Int

    /// Judges the head; the first rule broken decides.
    ///
    /// - Parameter copy: Its octets, once more, for its fields.
    func read(
        _ octets: Span<UInt8>, _ lines: [Fields.Line], copy: consuming [UInt8],
        allowedHosts: [String]
    ) throws(Refusal) -> RequestHead {
        let isHTTP10 = octets[versionStart + 7] == UInt8(ascii: "0")
        let known = try KnownFields(octets, lines)
        let isConnect = method.count == 7 && octets[method.lowerBound] == UInt8(ascii: "C")
        let name = octets.packed(method)
        let method = name.flatMap(Method.init(packed:))
        let parts = try checkTarget(octets, method, isConnect: isConnect)
        try checkHost(octets, lines, known, isHTTP10: isHTTP10)
        let framing = try readFraming(octets, lines, known, isHTTP10: isHTTP10)
        let connection =
            known.hasConnection ? try ConnectionOptions(octets, lines) : ConnectionOptions()
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
            method: method, isTrace: name == 0x54_5241_4345, target: readTarget(octets, parts),
            fields: Fields(
                octets: copy, lines: connection.endToEnd(lines, octets)),
            framing: framing, isHTTP10: isHTTP10,
            persists: isHTTP10 ? connection.keepsAlive && !connection.closes : !connection.closes,
            expectsContinue: expectsContinue,
            objection: objection(
                octets, lines, known, authority: parts.authority, allowedHosts: allowedHosts))
    }

    /// Length, chunks or nothing; never a choice between two (H40–H43).
    private func readFraming(
        _ octets: Span<UInt8>, _ lines: [Fields.Line], _ known: KnownFields, isHTTP10: Bool
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
                    && coding.allSatisfy { octet in OctetClass.token.contains(octet) }
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
        _ octets: Span<UInt8>, _ lines: [Fields.Line], _ known: KnownFields,
        authority: Range<Int>?, allowedHosts: [String]
    ) -> Refusal? {
        if !allowedHosts.isEmpty,
            let host = authority ?? known[.host].map({ index in lines[index].value }),
            !Self.isAllowed(octets.array(host)[...], allowedHosts)
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
    /// The octets of a range as one number; `nil` for more than seven, as no method has them.
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
