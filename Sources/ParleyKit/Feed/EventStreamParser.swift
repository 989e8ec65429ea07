/// An event of a stream of Server-Sent Events.
struct ServerSentEvent: Equatable, Sendable {
    /// The type; `message` if the stream names none.
    var type = "message"
    /// The lines of `data`, joined by line feeds.
    var data: [UInt8] = []
    /// The id; `nil` if the event has none of its own.
    var id: String?
}

/// A parser for Server-Sent Events (HTML Living Standard, section 9.2.6), fed with the bytes of a stream in pieces of any
/// size.
///
/// Lines end with LF, CR or CRLF. A comment and an unknown field are ignored; so is `retry`.
struct EventStreamParser {
    /// A longer line ends the stream, because no server of ours sends one.
    static let lineLimit = 64 << 20

    private var line: [UInt8] = []
    private var endsWithCR = false
    private var event = ServerSentEvent()
    private var hasData = false

    /// Parses bytes.
    ///
    /// - Returns: The events that are complete, in their order.
    /// - Throws: `server` for a line of more than 64 MiB.
    mutating func parse(_ bytes: [UInt8]) throws(ParleyError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        var start = 0
        for index in bytes.indices {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
            let isSecondOfPair =
                byte == UInt8(ascii: "\n") && endsWithCR && index == start
                && line.isEmpty
            endsWithCR = byte == UInt8(ascii: "\r")
            if !isSecondOfPair {
                line.append(contentsOf: bytes[start..<index])
                if let event = endLine() { events.append(event) }
            }
            start = index + 1
        }
        if start < bytes.count {
            line.append(contentsOf: bytes[start...])
            endsWithCR = false
        }
        guard line.count <= Self.lineLimit else {
            throw ParleyError(
                .server, "A line of the event stream has more than 64 MiB.", isTransient: true)
        }
        return events
    }

    private mutating func endLine() -> ServerSentEvent? {
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (event, hasData) = (ServerSentEvent(), false) }
            return hasData ? event : nil
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var value = line[(colon + 1)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": event.type = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { event.data.append(UInt8(ascii: "\n")) }
            event.data.append(contentsOf: value)
            hasData = true
        case "id": event.id = String(decoding: value, as: UTF8.self)
        default: break
        }
        return nil
    }
}
