/// Which distributed trace a request belongs to (`traceparent`, W3C Trace Context levels 1 and 2).
public struct TraceParent: Sendable, Equatable {
    /// The 16 bytes of the trace in lower-case hexadecimal digits, not all of them zero.
    public let traceID: String
    /// The 8 bytes of the caller's own step, likewise.
    public let parentID: String
    /// What holds of the trace, a bit each, as the caller says: 1 that it is kept, 2 that its id is random.
    public let flags: UInt8

    /// Reads the field; `nil` for what is none, which is then as good as absent (Trace Context §3.2.2), and
    /// for several (H198). Nobody but a trusted peer is to be asked about.
    public init?(_ fields: Fields) {
        guard fields.occurrences(of: "traceparent") == 1,
            let octets = fields.octets("traceparent")
        else { return nil }
        self.init(octets)
    }

    /// A later version is read as far as this one goes; what stands behind is not ours to know.
    private init?(_ octets: ArraySlice<UInt8>) {
        let parts = octets.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count >= 4,
            zip(parts, [2, 32, 16, 2]).allSatisfy({ part, count in
                part.count == count && part.allSatisfy(Self.isDigit)
            })
        else { return nil }
        let version = String(decoding: parts[0], as: UTF8.self)
        guard version != "ff", version != "00" || parts.count == 4 else { return nil }
        guard [parts[1], parts[2]].allSatisfy({ $0.contains { $0 != UInt8(ascii: "0") } }),
            let flags = UInt8(String(decoding: parts[3], as: UTF8.self), radix: 16)
        else { return nil }
        traceID = String(decoding: parts[1], as: UTF8.self)
        parentID = String(decoding: parts[2], as: UTF8.self)
        self.flags = flags
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x61...0x66).contains(octet)
    }
}

extension Request {
    /// The trace it belongs to, as a trusted proxy says (X5, H198); `nil` for none.
    public var trace: TraceParent? { isProxied ? TraceParent(fields) : nil }
}
