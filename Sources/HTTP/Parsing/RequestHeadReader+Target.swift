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
        _ octets: Span<UInt8>, _ method: Method?, isConnect: Bool
    ) throws(Refusal) -> TargetParts {
        guard !target.isEmpty else { throw .target }
        if isConnect {
            guard isHost(octets, target, needsPort: true) else { throw .target }
            return TargetParts(path: target)
        }
        let first = octets[target.lowerBound]
        if first == UInt8(ascii: "/") { return try checkPath(octets, target) }
        if first == UInt8(ascii: "*"), target.count == 1 {
            guard method == .options else {
                throw Refusal(.badRequest, "H17", "Only OPTIONS has the target '*'.")
            }
            return TargetParts(path: target)
        }
        return try checkAbsolute(octets)
    }

    private func checkAbsolute(_ octets: Span<UInt8>) throws(Refusal) -> TargetParts {
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
        var parts = try checkPath(octets, end..<target.upperBound)
        parts.authority = start..<end
        return parts
    }

    private func checkPath(
        _ octets: Span<UInt8>, _ range: Range<Int>
    ) throws(Refusal) -> TargetParts {
        let mark = octets.end(of: .path, from: range.lowerBound, to: range.upperBound)
        if mark == range.upperBound { return TargetParts(path: range) }
        guard octets[mark] == UInt8(ascii: "?"),
            octets.end(of: .query, from: mark, to: range.upperBound) == range.upperBound
        else {
            throw Refusal(.badRequest, "H15", "The request target holds a forbidden character.")
        }
        return TargetParts(path: range.lowerBound..<mark, query: (mark + 1)..<range.upperBound)
    }

    func readTarget(_ octets: Span<UInt8>, _ parts: TargetParts) -> RequestTarget {
        RequestTarget(
            path: parts.path.isEmpty ? "/" : octets.text(parts.path),
            query: parts.query.map { query in octets.text(query) })
    }

    /// Exactly one valid Host; only HTTP/1.0 may leave it out (H34–H36).
    func checkHost(
        _ octets: Span<UInt8>, _ lines: [Fields.Line], _ known: KnownFields, isHTTP10: Bool
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
        guard !range.isEmpty else { return false }
        let first = octets[range.lowerBound]
        let end: Int
        if first == UInt8(ascii: "[") {
            guard let bracket = octets.firstIndex(of: UInt8(ascii: "]"), in: range) else {
                return false
            }
            guard IPv6Text.address(octets.array((range.lowerBound + 1)..<bracket)) != nil else {
                return false
            }
            end = bracket + 1
        } else {
            end = octets.end(of: .host, from: range.lowerBound, to: range.upperBound)
            // A name starts neither with a dot nor with nothing.
            guard end > range.lowerBound, first != UInt8(ascii: ".") else { return false }
        }
        guard end < range.upperBound else { return !needsPort }
        guard octets[end] == UInt8(ascii: ":") else { return false }
        if end + 1 == range.upperBound { return !needsPort }
        guard let port = octets.decimal(in: (end + 1)..<range.upperBound) else { return false }
        return port <= 65_535
    }
}

extension Refusal {
    fileprivate static let target = Refusal(.badRequest, "H15", "The request target is malformed.")
}
