/// What the `Connection` field asks for (RFC 9110 §7.6.1).
struct ConnectionOptions {
    private(set) var closes = false
    private(set) var keepsAlive = false
    private var hopByHop: [Range<Int>] = []

    /// Fields that no `Connection` option can take away from the application (H31).
    private static let kept: [FieldName] = [
        "host", "content-length", "transfer-encoding", "authorization", "cookie", "forwarded",
        "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "x-request-id",
        "connection", "upgrade",
    ]

    /// What a head without the field asks for: nothing.
    init() {}

    /// Reads all lines of the field.
    init(_ octets: Span<UInt8>, _ lines: [Fields.Line]) throws(Refusal) {
        var elements = 0
        var empty = 0
        for line in lines where octets.matches("connection", in: line.name) {
            var start = line.value.lowerBound
            var isLast = false
            while !isLast {
                let rest = start..<line.value.upperBound
                let comma = octets.firstIndex(of: UInt8(ascii: ","), in: rest)
                let option = octets.trimmingBlanks(start..<(comma ?? rest.upperBound))
                elements += 1
                empty += option.isEmpty ? 1 : 0
                guard elements <= 256, empty <= 16 else {
                    throw Refusal(
                        .badRequest, "H30", "The Connection field lists too many elements.")
                }
                if octets.matches("close", in: option) {
                    closes = true
                } else if octets.matches("keep-alive", in: option) {
                    keepsAlive = true
                } else if !option.isEmpty {
                    hopByHop.append(option)
                }
                start = (comma ?? start) + 1
                isLast = comma == nil
            }
        }
    }

    /// The lines that are meant for the application.
    func endToEnd(_ lines: [Fields.Line], _ octets: Span<UInt8>) -> [Fields.Line] {
        // Shared with the parser: an answer made at once lets go of them before the next head comes.
        if hopByHop.isEmpty { return lines }
        return lines.filter { line in
            Self.kept.contains { kept in octets.matches(kept, in: line.name) }
                || !hopByHop.contains { option in octets.areEqual(option, line.name) }
        }
    }
}
