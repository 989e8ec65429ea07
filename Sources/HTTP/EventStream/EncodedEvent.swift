/// An event of an event stream as it stands on the wire; made once, sent to many.
public struct EncodedEvent: Sendable {
    let bytes: [UInt8]

    /// Writes an event.
    ///
    /// - Parameters:
    ///   - data: UTF-8; every CR, LF and CR LF begins a new line of it, so that nothing in it can
    ///     begin another field (H152).
    ///   - name: The type of the event, `message` when `nil`.
    ///   - id: What the client says in `Last-Event-ID` when it comes back, at most 256 bytes (H154).
    /// - Returns: `nil` when the name holds CR or LF, or the id one of them or NUL, or too much: such
    ///   text could begin a field of its own (H152).
    public init?(data: some Collection<UInt8>, name: String? = nil, id: String? = nil) {
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
        var follows: UInt8 = 0
        for byte in data {
            if byte == .lf, follows == .cr {
                // CR LF is one end of line.
            } else if byte.endsLine {
                bytes.append(.lf)
                bytes += prefix
            } else {
                bytes.append(byte)
            }
            follows = byte
        }
        bytes += [.lf, .lf]
        self.bytes = bytes
    }

    /// Writes an event whose data is text.
    public init?(data: String, name: String? = nil, id: String? = nil) {
        self.init(data: Array(data.utf8), name: name, id: id)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Several events behind each other, as one piece to send.
    public static func joined(_ events: some Collection<EncodedEvent>) -> EncodedEvent {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(events.reduce(0) { sum, event in sum + event.count })
        for event in events { bytes += event.bytes }
        return EncodedEvent(bytes: bytes)
    }

    /// How many bytes it has.
    public var count: Int { bytes.count }

    /// A comment, which clients skip, and where they are, which they remember: without data nothing is
    /// dispatched (HTML §9.2.6).
    ///
    /// - Parameter place: What a client that breaks off here says in `Last-Event-ID`; `nil` for what it
    ///   would have said before.
    static func heartbeat(at place: Int64?) -> EncodedEvent {
        EncodedEvent(bytes: Array(":\n\(id(place))\n".utf8))
    }

    /// What every stream begins with: a comment, so that something arrives at once (H151), how long a
    /// client waits before it comes back, in milliseconds and in digits (H153), and where it begins.
    static func greeting(retry: UInt32, at place: Int64?) -> EncodedEvent {
        EncodedEvent(bytes: Array(":\nretry: \(retry)\n\(id(place))\n".utf8))
    }

    private static func id(_ place: Int64?) -> String {
        place.map { place in "id: \(place)\n" } ?? ""
    }
}

extension UInt8 {
    fileprivate var endsLine: Bool { self == .cr || self == .lf }
}

/// Where a client's event stream broke off (H154).
public enum LastEventID {
    /// The most bytes an id may have.
    static let maximum = 256

    /// Reads `Last-Event-ID`, or a parameter of the query where the route offers one.
    ///
    /// The header wins: a browser that reconnects sends it with the address of the first time.
    /// - Returns: `nil` when the client starts anew.
    /// - Throws: 400 when it is too long, repeated or not text.
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

    /// Opaque but bounded, and nothing that ends a line of the stream.
    static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count <= maximum
            && !bytes.contains { byte in byte == 0 || byte == .cr || byte == .lf }
    }
}

extension Refusal {
    fileprivate static let lastEventID = Refusal(
        .badRequest, "H154", "The last event id is not one this server gave.")
}
