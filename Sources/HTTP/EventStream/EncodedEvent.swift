/// A server-sent event in its wire format; encoded once, sent to many clients.
public struct EncodedEvent: Sendable {
    let bytes: [UInt8]

    /// Encodes an event.
    ///
    /// - Parameters:
    ///   - data: UTF-8; every CR, LF and CR LF starts a new `data` line, so that the data cannot
    ///     start another field (H152).
    ///   - name: The type of the event, `message` when `nil`.
    ///   - id: The id that the client sends in `Last-Event-ID` when it reconnects, at most 256
    ///     bytes (H154).
    /// - Returns: `nil` when the name contains CR or LF, or the id CR, LF or NUL or too many bytes:
    ///   such text could start another field (H152).
    public init?(data: [UInt8], name: String? = nil, id: String? = nil) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 32)
        if let name {
            guard !name.utf8.contains(where: \.endsLine) else { return nil }
            bytes += Array("event: ".utf8) + Array(name.utf8) + [.lf]
        }
        if let id {
            guard LastEventID.isValid(id.utf8) else { return nil }
            bytes += Array("id: ".utf8) + Array(id.utf8) + [.lf]
        }
        let prefix = Array("data: ".utf8)
        bytes += prefix
        var rest = data[...]
        while let end = rest.firstIndex(where: { byte in byte.endsLine }) {
            bytes += rest[..<end] + [.lf] + prefix
            // CR LF is a single line end.
            let isPair = rest[end] == .cr && end + 1 < rest.endIndex && rest[end + 1] == .lf
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        bytes += rest
        bytes += [.lf, .lf]
        self.bytes = bytes
    }

    /// Encodes an event whose data is a string.
    public init?(data: String, name: String? = nil, id: String? = nil) {
        self.init(data: Array(data.utf8), name: name, id: id)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Concatenates events, to send them at once.
    public static func joined(_ events: some Collection<EncodedEvent>) -> EncodedEvent {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(events.reduce(0) { sum, event in sum + event.count })
        for event in events { bytes += event.bytes }
        return EncodedEvent(bytes: bytes)
    }

    /// The size in bytes.
    public var count: Int { bytes.count }

    /// A comment, which clients ignore, and the id, which they remember: without data no event is
    /// dispatched (HTML §9.2.6).
    ///
    /// - Parameter position: What a client that reconnects sends in `Last-Event-ID`; `nil` to leave
    ///   its last id unchanged.
    static func heartbeat(at position: Int64?) -> EncodedEvent {
        EncodedEvent(bytes: Array(":\n\(id(position))\n".utf8))
    }

    /// The start of every stream: a comment, so that bytes arrive at once (H151), the reconnection
    /// time in milliseconds, in digits (H153), and the first id.
    static func preamble(retry: UInt32, at position: Int64?) -> EncodedEvent {
        EncodedEvent(bytes: Array(":\nretry: \(retry)\n\(id(position))\n".utf8))
    }

    private static func id(_ position: Int64?) -> String {
        position.map { position in "id: \(position)\n" } ?? ""
    }
}

extension UInt8 {
    fileprivate var endsLine: Bool { self == .cr || self == .lf }
}

/// Reads the id after which an event stream resumes (H154).
public enum LastEventID {
    /// The most bytes of an id.
    private static let maximum = 256

    /// Reads `Last-Event-ID`, or a query parameter where the route has one.
    ///
    /// The header wins, because a browser that reconnects sends it with the original URL.
    ///
    /// - Returns: `nil` when the client starts a new stream.
    /// - Throws: 400 when the id is too long, repeated or not text.
    public static func read(
        _ request: Request, parameter: String? = nil
    ) throws(Refusal) -> String? {
        guard request.fields.occurrences(of: "Last-Event-ID") <= 1 else { throw .lastEventID }
        if let bytes = request.fields.bytes("Last-Event-ID"), !bytes.isEmpty {
            guard isValid(bytes), let id = String(validating: bytes, as: UTF8.self) else {
                throw .lastEventID
            }
            return id
        }
        guard let parameter else { return nil }
        guard case .success(let parameters) = Result(catching: { try request.target.parameters() })
        else { throw .lastEventID }
        guard let id = parameters.first(where: { $0.name == parameter })?.value, !id.isEmpty else {
            return nil
        }
        guard isValid(id.utf8) else { throw .lastEventID }
        return id
    }

    /// Whether an id has an allowed length and no byte that ends a line of the stream.
    static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count <= maximum
            && !bytes.contains { byte in byte == 0 || byte == .cr || byte == .lf }
    }
}

extension Refusal {
    fileprivate static let lastEventID = Refusal(
        .badRequest, "H154", "The last event id is invalid.")
}
