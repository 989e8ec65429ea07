/// What the `Connection` field asks for (RFC 9110 §7.6.1).
struct ConnectionOptions {
    private(set) var closes = false
    private(set) var keepsAlive = false
    private var hopByHop: [ArraySlice<UInt8>] = []

    /// Fields that no `Connection` option can take away from the application (H31).
    private static let kept: [FieldName] = [
        "host", "content-length", "transfer-encoding", "authorization", "cookie", "forwarded",
        "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "x-request-id",
        "connection", "upgrade",
    ]

    init(_ octets: Span<UInt8>, _ lines: [Fields.Line]) throws(Refusal) {
        var elements = 0
        var empty = 0
        for line in lines {
            let value = octets.array(line.value)
            for raw in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
                let option = raw.trimmingBlanks
                elements += 1
                empty += option.isEmpty ? 1 : 0
                guard elements <= 256, empty <= 16 else {
                    throw Refusal(
                        .badRequest, "H30", "The Connection field lists too many elements.")
                }
                if option.isEqualIgnoringCase("close".utf8) {
                    closes = true
                } else if option.isEqualIgnoringCase("keep-alive".utf8) {
                    keepsAlive = true
                } else if !option.isEmpty {
                    hopByHop.append(option)
                }
            }
        }
    }

    /// The lines that are meant for the application.
    func endToEnd(_ lines: [Fields.Line], _ octets: Span<UInt8>) -> [Fields.Line] {
        // Shared with the parser: an answer made at once lets go of them before the next head comes.
        if hopByHop.isEmpty { return lines }
        return lines.filter { line in
            let name = octets.array(line.name)
            return Self.kept.contains { kept in octets.matches(kept, in: line.name) }
                || !hopByHop.contains { option in option.isEqualIgnoringCase(name) }
        }
    }
}
