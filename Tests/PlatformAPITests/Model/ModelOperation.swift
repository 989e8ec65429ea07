import MessagingWire

/// A user id; equal only to the same UTF-8 bytes (ruling 7).
struct ModelUser: Hashable, CustomStringConvertible {
    let text: String

    static let all = ["ana", "bo", "cy", "team/42", "\u{E9}", "e\u{301}"].map(ModelUser.init)

    static func == (one: ModelUser, other: ModelUser) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }

    /// Encoded like JavaScript's `encodeURIComponent` (platform-api §1.7).
    var encoded: String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                return String(Unicode.Scalar(byte))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                return "%" + (hex.count < 2 ? "0" : "") + hex
            }
        }.joined()
    }

    var identity: String { "layer:///identities/\(encoded)" }

    /// The name in requests of a version.
    func name(in version: APIVersion) -> String { version.namesIdentities ? identity : text }

    var description: String { text.inASCII }
}

/// One request of a random sequence, and reads after it.
///
/// Operations refer to objects by the number of the operation that creates them, so any subsequence is a
/// valid sequence: objects that it does not create are unknown in it.
struct ModelOperation: Sendable {
    let number: Int
    let version: APIVersion
    /// The milliseconds that pass before it; with 0 it has the time of the previous one.
    let pause: Int
    let action: Action
    var reads: [ModelRead] = []

    /// Whether it has an `Idempotency-Key`, if its method accepts one.
    var hasKey: Bool { number.isMultiple(of: 3) }

    /// An id proposed by the caller, by a number that may be that of an earlier operation.
    enum OwnID: Sendable {
        case header(Int)
        case body(Int)
    }

    enum Author: Sendable {
        /// The system in the name of a service.
        case service(String)
        /// The system in the name of a user.
        case system(ModelUser)
        /// The user, through the proxy.
        case user(ModelUser)
    }

    enum Change: Sendable {
        case add(ModelUser)
        case remove(ModelUser)
        case set([ModelUser])
        case write([String], LogReplica.Tree)
        case erase([String])
    }

    enum Deletion: Sendable { case forAll, forMe, leaving }

    /// A part of a sent message: a text, and possibly its own id.
    struct Part: Sendable {
        let text: String
        var hasOwnID = false
    }

    enum PartsChange: Sendable {
        case add(String)
        case replaceAll([String])
        case remove(index: Int)
    }

    enum IdentityChange: Sendable {
        case create(String, isBot: Bool)
        case replace(String, isBot: Bool)
        case rename(String)
        case delete
    }

    enum Action: Sendable {
        case create(
            by: ModelUser?, [ModelUser], isDistinct: Bool, metadata: LogReplica.Tree?, own: OwnID?)
        /// - Parameter ahead: The version in `If-Match`, relative to the current one; `nil` without that header.
        case patch(Int, by: ModelUser?, [Change], ahead: Int64?)
        case deleteConversation(Int, by: ModelUser?, Deletion)
        case send(Int, by: Author, [Part], own: OwnID?)
        case deleteMessage(Int, by: ModelUser?, forAll: Bool)
        case changeParts(Int, by: ModelUser?, PartsChange)
        case receipt(Int, by: ModelUser, isRead: Bool)
        /// All, or up to the message of an operation, with an offset added to its position in JSON.
        case readAll(Int, by: ModelUser, upTo: Int?, plus: Int64)
        case block(ModelUser, ModelUser, isAdded: Bool)
        case announce([ModelUser], by: Author, String, own: OwnID?)
        case announcementReceipt(Int, by: ModelUser, isRead: Bool)
        case deleteAnnouncement(Int, by: ModelUser)
        case identity(ModelUser, IdentityChange)
        case suspend(ModelUser, Bool)
        case setBadge(ModelUser, Int64)
        /// A request that changes nothing.
        case invalidRequest(InvalidModelRequest)
        /// Repeats the request of an earlier operation under its key (X2).
        case again(Int)
    }
}

/// A read after an operation.
enum ModelRead: Sendable {
    case conversation(Int)
    case messages(Int, size: Int, after: Int?)
    case message(Int)
    case userConversations(ModelUser, byLastMessage: Bool, size: Int, after: Int?)
    case userConversation(ModelUser, Int)
    case userMessages(ModelUser, Int, size: Int, after: Int?)
    case userMessage(ModelUser, Int)
    case badge(ModelUser)
    case user(ModelUser)
    case blocks(ModelUser)
    case announcements(ModelUser, size: Int, after: Int?)
    case announcement(Int, by: ModelUser?)
    case conversations(size: Int, after: Int?)
    case userCount
}

/// A request with one error, and its response in every version.
struct InvalidModelRequest: Sendable {
    let method: String
    /// The path, with `{conversation}` for the conversation of an operation and `{user}` for a user.
    let path: String
    let body: String
    let status: Int
    let error: String
    var property: String?
    var conversation = 0

    private init(
        _ method: String, _ path: String, _ body: String, _ status: Int, _ error: String,
        _ property: String? = nil
    ) {
        (self.method, self.path, self.body) = (method, path, body)
        (self.status, self.error, self.property) = (status, error, property)
    }

    static let all: [InvalidModelRequest] = [
        InvalidModelRequest(
            "POST", "/conversations", "{}", 422, "missing_property", "participants"),
        InvalidModelRequest(
            "POST", "/conversations", #"{"participants":[]}"#, 422, "invalid_property",
            "participants"),
        InvalidModelRequest(
            "POST", "/conversations", #"{"participants":["ana"],"distinct":"yes"}"#, 422,
            "invalid_property", "distinct"),
        InvalidModelRequest(
            "POST", "/conversations", #"{"participants":["ana"],"metadata":{"a":1}}"#, 422,
            "invalid_property", "metadata"),
        InvalidModelRequest(
            "POST", "/conversations", #"{"participants":["ana"],"metadata":{"a b":"c"}}"#, 422,
            "invalid_property", "metadata"),
        InvalidModelRequest(
            "POST", "/conversations", #"{"participants":["new one"],"id":"none"}"#, 422,
            "invalid_property", "id"),
        InvalidModelRequest(
            "POST", "/conversations", #"{"participants":["#, 400, "invalid_request"),
        InvalidModelRequest(
            "PATCH", "/conversations/{conversation}",
            #"[{"operation":"set","property":"metadata.a","value":5}]"#, 422, "invalid_property",
            "value"),
        InvalidModelRequest(
            "PATCH", "/conversations/{conversation}",
            #"[{"operation":"replace","property":"metadata.a","value":"b"}]"#, 422,
            "invalid_property", "operation"),
        InvalidModelRequest(
            "PATCH", "/conversations/{conversation}",
            #"[{"operation":"set","property":"metadata.a","value":"b"},{"operation":"set","property":"distinct","value":true}]"#,
            422, "invalid_property"),
        InvalidModelRequest(
            "POST", "/users/ana/conversations/{conversation}/messages", #"{"parts":[]}"#, 422,
            "invalid_property", "parts"),
        InvalidModelRequest(
            "POST", "/users/ana/conversations/{conversation}/messages",
            #"{"parts":[{"mime_type":"text","body":"a"}]}"#, 422, "invalid_property",
            "parts.mime_type"),
        InvalidModelRequest(
            "POST", "/users/ana/conversations/{conversation}/messages",
            #"{"parts":[{"mime_type":"a/b","body":"\#(String(repeating: "a", count: 2049))"}]}"#,
            422, "invalid_property", "parts.body"),
        InvalidModelRequest(
            "POST", "/users/ana/conversations/{conversation}/mark_all_read", #"{"position":-1}"#,
            422, "invalid_property", "position"),
        InvalidModelRequest(
            "POST", "/users/ana/conversations/{conversation}/mark_all_read",
            #"{"position":1.5}"#, 422, "invalid_property", "position"),
        InvalidModelRequest("GET", "/conversations/none", "", 404, "not_found"),
        InvalidModelRequest("POST", "/announcements", "{}", 422, "missing_property", "recipients"),
        InvalidModelRequest(
            "PUT", "/users/unheard-of/badge", #"{"external_unread_count":-1}"#, 422,
            "invalid_property", "external_unread_count"),
    ]
}
