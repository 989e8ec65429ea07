import HTTP
import JSON
import Messaging
import MessagingWire
import SystemSupport

/// A packet of a client (client-api §5.2).
struct SocketPacket {
    /// What a client asks for.
    enum Content {
        /// The method, with the object that it names and its data.
        case request(method: String, object: String?, data: JSONValue?)
        /// The user types in a conversation.
        case typing(JSONValue)
        /// None of these.
        case malformed(String)
    }

    /// Names the request in its response; `nil` for a request that gets none.
    let id: String?
    let content: Content

    /// Reads a packet; `nil` for one that cannot be answered, which is ignored.
    init?(_ bytes: [UInt8]) {
        guard let root = try? JSONDocument(bytes).root else { return nil }
        let body = root["body"]
        let id = body?["request_id"]?.string
        if let id {
            guard Self.isID(id) else { return nil }
        } else if let named = body?["request_id"], !named.isNull {
            return nil
        }
        self.id = id
        switch root["type"]?.string {
        case "request":
            guard let method = body?["method"]?.string else {
                content = .malformed("`body.method` must be the name of a method.")
                return
            }
            let object = body?["object_id"]
            guard object == nil || object?.isNull == true || object?.string != nil else {
                content = .malformed("`body.object_id` must be a string.")
                return
            }
            let data = body?["data"].flatMap { data in data.isNull ? nil : data }
            content = .request(method: method, object: object?.string, data: data)
        case "signal":
            guard body?["type"]?.string == "typing_indicator", let body else {
                content = .malformed("`body.type` of a signal must be `typing_indicator`.")
                return
            }
            content = .typing(body)
        default: content = .malformed("`type` must be `request` or `signal`.")
        }
    }

    /// Whether a text may name a request: letters, digits, dots, underscores and hyphens, at most 256 of them.
    private static func isID(_ text: String) -> Bool {
        (1...256).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._-".utf8.contains(byte)
                }
            }
    }
}

/// A packet to a client, without its counter (client-api §5.2).
enum SocketOutput {
    /// A change that the user sees.
    case change(ChangeJSON.PacketType, [UInt8], at: Timestamp, isReplayed: Bool, hasLinks: Bool)
    /// A response with the JSON of its data.
    case response(SocketResponse)
    /// The response to `Counter.read`, whose data is known when it is sent.
    case counter(SocketResponse)
    case signal([UInt8])
    /// A change of the presence of a followed user.
    case presence([UInt8])
    /// Ends the socket, because its session has ended.
    case end
}

/// The response to a request of a socket (client-api §5.3).
struct SocketResponse {
    /// The id of the request; a request without one gets no response.
    let id: String?
    let method: String
    let object: String?
    let isSuccess: Bool
    let data: [UInt8]

    static let none = Array("{}".utf8)

    /// The body of the packet; `nil` for a request without an id.
    func body(data: [UInt8]? = nil) -> [UInt8]? {
        guard let id else { return nil }
        var writer = JSONWriter(capacity: 256 + self.data.count)
        writer.object { writer in
            writer.member("request_id", id)
            writer.member("method", method)
            if let object { writer.member("object_id", object) }
            writer.member("success", isSuccess)
            writer.member("data", raw: data ?? self.data)
        }
        return writer.finish()
    }
}

/// The body of a request that came in a packet.
final class PacketBody: RequestBody {
    let length: Int64?
    private let bytes: [UInt8]
    private let position = Locked(0)

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        length = Int64(bytes.count)
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        let start = position.withLock { position in position }
        let end = min(bytes.count, start + buffer.capacity)
        let rest = Array(bytes[start..<end])
        let count = buffer.append(rest.span)
        position.withLock { position in position = start + count }
    }

    func interrupt() {}
}
