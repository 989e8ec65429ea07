/// An event of an event stream as it stands on the wire; made once, sent to many.
public struct EncodedEvent: Sendable {
    let octets: [UInt8]

    /// Writes an event.
    ///
    /// - Parameters:
    ///   - data: UTF-8; every CR, LF and CR LF begins a new line of it, so that nothing in it can
    ///     begin another field (H152).
    ///   - name: The type of the event, `message` when `nil`.
    ///   - id: What the client says in `Last-Event-ID` when it comes back, at most 256 octets (H154).
    /// - Returns: `nil` when the name holds CR or LF, or the id one of them or NUL, or too much: such
    ///   text could begin a field of its own (H152).
    public init?(data: some Collection<UInt8>, name: String? = nil, id: String? = nil) {
        var octets: [UInt8] = []
        octets.reserveCapacity(data.count + 32)
        if let name {
            guard !name.utf8.contains(where: \.endsLine) else { return nil }
            octets += Array("event: ".utf8) + Array(name.utf8) + [.lf]
        }
        if let id {
            guard LastEventID.isValid(id.utf8) else { return nil }
            octets += Array("id: ".utf8) + Array(id.utf8) + [.lf]
        }
        let prefix = Array("data: ".utf8)
        octets += prefix
        var follows: UInt8 = 0
        for octet in data {
            if octet == .lf, follows == .cr {
                // CR LF is one end of line.
            } else if octet.endsLine {
                octets.append(.lf)
                octets += prefix
            } else {
                octets.append(octet)
            }
            follows = octet
        }
        octets += [.lf, .lf]
        self.octets = octets
    }

    /// Writes an event whose data is text.
    public init?(data: String, name: String? = nil, id: String? = nil) {
        self.init(data: Array(data.utf8), name: name, id: id)
    }

    private init(octets: [UInt8]) { self.octets = octets }

    /// Several events behind each other, as one piece to send.
    public static func joined(_ events: some Collection<EncodedEvent>) -> EncodedEvent {
        var octets: [UInt8] = []
        octets.reserveCapacity(events.reduce(0) { sum, event in sum + event.count })
        for event in events { octets += event.octets }
        return EncodedEvent(octets: octets)
    }

    /// How many octets it has.
    public var count: Int { octets.count }

    /// A comment, which clients skip, and where they are, which they remember: without data nothing is
    /// dispatched (HTML §9.2.6).
    ///
    /// - Parameter place: What a client that breaks off here says in `Last-Event-ID`; `nil` for what it
    ///   would have said before.
    static func heartbeat(at place: Int64?) -> EncodedEvent {
        EncodedEvent(octets: Array(":\n\(id(place))\n".utf8))
    }

    /// What every stream begins with: a comment, so that something arrives at once (H151), how long a
    /// client waits before it comes back, in milliseconds and in digits (H153), and where it begins.
    static func greeting(retry: UInt32, at place: Int64?) -> EncodedEvent {
        EncodedEvent(octets: Array(":\nretry: \(retry)\n\(id(place))\n".utf8))
    }

    private static func id(_ place: Int64?) -> String {
        place.map { place in "id: \(place)\n" } ?? ""
    }
}

extension UInt8 {
    fileprivate var endsLine: Bool { self == .cr || self == .lf }
}
