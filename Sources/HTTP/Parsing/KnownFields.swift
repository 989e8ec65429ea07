/// The fields of a head that determine framing and connection or may occur only once (H29).
struct KnownFields {
    /// Fields that may occur only once.
    enum Singleton: Int {
        case host, contentLength, transferEncoding, authorization, contentType, contentEncoding
        case expect, ifModifiedSince, ifUnmodifiedSince, ifRange, range, origin
        case webSocketKey, webSocketVersion

        /// Identifies a field by its name, first by the length.
        init?(_ bytes: Span<UInt8>, _ name: Range<Int>) {
            switch name.count {
            case 4 where bytes.matches("host", in: name): self = .host
            case 5 where bytes.matches("range", in: name): self = .range
            case 6 where bytes.matches("expect", in: name): self = .expect
            case 6 where bytes.matches("origin", in: name): self = .origin
            case 8 where bytes.matches("if-range", in: name): self = .ifRange
            case 12 where bytes.matches("content-type", in: name): self = .contentType
            case 13 where bytes.matches("authorization", in: name): self = .authorization
            case 14 where bytes.matches("content-length", in: name): self = .contentLength
            case 16 where bytes.matches("content-encoding", in: name): self = .contentEncoding
            case 17 where bytes.matches("transfer-encoding", in: name): self = .transferEncoding
            case 17 where bytes.matches("if-modified-since", in: name): self = .ifModifiedSince
            case 17 where bytes.matches("sec-websocket-key", in: name): self = .webSocketKey
            case 19 where bytes.matches("if-unmodified-since", in: name): self = .ifUnmodifiedSince
            case 21 where bytes.matches("sec-websocket-version", in: name):
                self = .webSocketVersion
            default: return nil
            }
        }
    }

    /// The line index of each singleton, or −1. Small, because it is made for every request.
    private var found = InlineArray<14, Int32>(repeating: -1)
    /// Whether a `Connection` field is present.
    private(set) var hasConnection = false
    /// The number of cookies.
    private(set) var cookiePairs = 0
    /// The length of the longest list among the `Accept…` fields.
    private(set) var acceptRanges = 0

    init(_ bytes: Span<UInt8>, _ lines: [Fields.Line]) throws(Refusal) {
        for index in lines.indices {
            let line = lines[index]
            let name = line.name
            if let field = Singleton(bytes, name) {
                guard found[field.rawValue] < 0 else {
                    throw Refusal(
                        .badRequest, "H29",
                        "A header field that may occur only once occurs more than once.")
                }
                found[field.rawValue] = Int32(truncatingIfNeeded: index)
            } else if bytes.matches("connection", in: name) {
                hasConnection = true
            } else if bytes.matches("cookie", in: name) {
                cookiePairs += 1 + bytes.occurrences(of: UInt8(ascii: ";"), in: line.value)
            } else if name.count >= 6,
                bytes.matches("accept", in: name.lowerBound..<name.lowerBound + 6)
            {
                acceptRanges = max(
                    acceptRanges, 1 + bytes.occurrences(of: UInt8(ascii: ","), in: line.value))
            }
        }
    }

    /// The line index of a singleton field.
    subscript(field: Singleton) -> Int? {
        let index = found[field.rawValue]
        return index < 0 ? nil : Int(index)
    }
}

/// The options of the `Connection` field (RFC 9110 §7.6.1).
struct ConnectionOptions {
    private(set) var closes = false
    private(set) var keepsAlive = false
    private var hopByHop: [Range<Int>] = []

    /// Fields that a `Connection` option cannot remove (H31).
    private static let kept: [FieldName] = [
        "host", "content-length", "transfer-encoding", "authorization", "cookie", "forwarded",
        "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "x-request-id",
        "connection", "upgrade",
    ]

    /// The options of a head without the field: none.
    init() {}

    /// Parses all lines of the field.
    init(_ bytes: Span<UInt8>, _ lines: [Fields.Line]) throws(Refusal) {
        var elements = 0
        var empty = 0
        for line in lines where bytes.matches("connection", in: line.name) {
            var start = line.value.lowerBound
            var isLast = false
            while !isLast {
                let rest = start..<line.value.upperBound
                let comma = bytes.firstIndex(of: UInt8(ascii: ","), in: rest)
                let option = bytes.trimmingBlanks(start..<(comma ?? rest.upperBound))
                elements += 1
                empty += option.isEmpty ? 1 : 0
                guard elements <= 256, empty <= 16 else {
                    throw Refusal(
                        .badRequest, "H30", "The Connection field lists too many elements.")
                }
                if bytes.matches("close", in: option) {
                    closes = true
                } else if bytes.matches("keep-alive", in: option) {
                    keepsAlive = true
                } else if !option.isEmpty {
                    hopByHop.append(option)
                }
                start = (comma ?? start) + 1
                isLast = comma == nil
            }
        }
    }

    /// The lines that are not hop-by-hop.
    func endToEnd(_ lines: [Fields.Line], _ bytes: Span<UInt8>) -> [Fields.Line] {
        // Shared with the parser: a response made at once releases them before the next head
        // arrives.
        if hopByHop.isEmpty { return lines }
        return lines.filter { line in
            Self.kept.contains { kept in bytes.matches(kept, in: line.name) }
                || !hopByHop.contains { option in bytes.areEqual(option, line.name) }
        }
    }
}
