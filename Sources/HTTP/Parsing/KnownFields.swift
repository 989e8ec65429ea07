/// The fields of a head that decide about framing, the connection, or may stand only once (H29).
struct KnownFields {
    /// Fields that may stand in one line only.
    enum Singleton: Int {
        case host, contentLength, transferEncoding, authorization, contentType, contentEncoding
        case expect, ifModifiedSince, ifUnmodifiedSince, ifRange, range, origin
        case webSocketKey, webSocketVersion

        /// Tells a name apart, first by its length.
        init?(_ octets: Span<UInt8>, _ name: Range<Int>) {
            switch name.count {
            case 4 where octets.matches("host", in: name): self = .host
            case 5 where octets.matches("range", in: name): self = .range
            case 6 where octets.matches("expect", in: name): self = .expect
            case 6 where octets.matches("origin", in: name): self = .origin
            case 8 where octets.matches("if-range", in: name): self = .ifRange
            case 12 where octets.matches("content-type", in: name): self = .contentType
            case 13 where octets.matches("authorization", in: name): self = .authorization
            case 14 where octets.matches("content-length", in: name): self = .contentLength
            case 16 where octets.matches("content-encoding", in: name): self = .contentEncoding
            case 17 where octets.matches("transfer-encoding", in: name): self = .transferEncoding
            case 17 where octets.matches("if-modified-since", in: name): self = .ifModifiedSince
            case 17 where octets.matches("sec-websocket-key", in: name): self = .webSocketKey
            case 19 where octets.matches("if-unmodified-since", in: name): self = .ifUnmodifiedSince
            case 21 where octets.matches("sec-websocket-version", in: name):
                self = .webSocketVersion
            default: return nil
            }
        }
    }

    /// By singleton the index of its line, or −1; small, because it is made for every request.
    private var found = InlineArray<14, Int32>(repeating: -1)
    /// Whether there is a line of `Connection`.
    private(set) var hasConnection = false
    /// How many cookies came.
    private(set) var cookiePairs = 0
    /// The longest list among the fields of the Accept family.
    private(set) var acceptRanges = 0

    init(_ octets: Span<UInt8>, _ lines: [Fields.Line]) throws(Refusal) {
        for index in lines.indices {
            let line = lines[index]
            let name = line.name
            if let field = Singleton(octets, name) {
                guard found[field.rawValue] < 0 else {
                    throw Refusal(
                        .badRequest, "H29", "A field that may stand once stands more than once.")
                }
                found[field.rawValue] = Int32(truncatingIfNeeded: index)
            } else if octets.matches("connection", in: name) {
                hasConnection = true
            } else if octets.matches("cookie", in: name) {
                cookiePairs += 1 + octets.occurrences(of: UInt8(ascii: ";"), in: line.value)
            } else if name.count >= 6,
                octets.matches("accept", in: name.lowerBound..<name.lowerBound + 6)
            {
                acceptRanges = max(
                    acceptRanges, 1 + octets.occurrences(of: UInt8(ascii: ","), in: line.value))
            }
        }
    }

    /// The index of a singleton's line.
    subscript(field: Singleton) -> Int? {
        let index = found[field.rawValue]
        return index < 0 ? nil : Int(index)
    }
}
