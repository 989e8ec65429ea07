/// Which distributed trace a request belongs to (`traceparent`, W3C Trace Context level 1).
public struct TraceParent: Sendable, Equatable {
    /// The 16 bytes of the trace in lower-case hexadecimal digits, not all of them zero.
    public let traceID: String
    /// The 8 bytes of the caller's own step, likewise.
    public let parentID: String

    /// Reads a field; `nil` for what is none, which is then as good as absent (§3.2.2).
    ///
    /// A later version is read as far as this one goes; what stands behind is not ours to know.
    init?(_ text: ArraySlice<UInt8>) {
        let fields = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard fields.count >= 4,
            zip(fields, [2, 32, 16, 2]).allSatisfy({ field, count in
                field.count == count && field.allSatisfy(Self.isDigit)
            })
        else { return nil }
        let version = String(decoding: fields[0], as: UTF8.self)
        guard version != "ff", version != "00" || fields.count == 4 else { return nil }
        guard [fields[1], fields[2]].allSatisfy({ $0.contains { $0 != UInt8(ascii: "0") } }) else {
            return nil
        }
        traceID = String(decoding: fields[1], as: UTF8.self)
        parentID = String(decoding: fields[2], as: UTF8.self)
    }

    private static func isDigit(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x61...0x66).contains(octet)
    }
}

extension ProxyTrust {
    /// The trace a request from a proxy belongs to; several fields are none (H198).
    ///
    /// Nobody but a trusted peer is to be asked about.
    public func trace(of fields: Fields) -> TraceParent? {
        guard fields.occurrences(of: "traceparent") == 1 else { return nil }
        return fields.octets("traceparent").flatMap(TraceParent.init)
    }
}
