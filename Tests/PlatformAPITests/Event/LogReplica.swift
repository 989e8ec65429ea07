import JSON
import Testing

/// What a backend that reads the log keeps of conversations, messages and webhooks.
struct LogCopy: Equatable {
    struct Chat: Equatable {
        var participants: [String]
        var isDistinct: Bool
        var metadata: Tree
    }

    struct Message: Equatable {
        var conversation: String
        var position: Int64
        var text: String
        var status: [String: String]
    }

    /// Metadata, of any order.
    indirect enum Tree: Equatable {
        case text(String)
        case object([String: Tree])
    }

    var chats: [String: Chat] = [:]
    var messages: [String: Message] = [:]
    var webhooks: [String: Tree] = [:]

    // MARK: - From objects of the API

    mutating func keep(chat: JSONValue) {
        chats[chat.text("id")] = Chat(
            participants: chat.list("participants").map { $0.text("id") },
            isDistinct: chat["distinct"]?.bool ?? false,
            metadata: chat["metadata"].map(Tree.init) ?? .object([:]))
    }

    mutating func keep(message: JSONValue) {
        messages[message.text("id")] = Message(
            conversation: message["conversation"]?.text("id") ?? "",
            position: message["position"]?.integer ?? 0, text: Self.text(of: message),
            status: message["recipient_status"]?.texts ?? [:])
    }

    mutating func keep(webhook: JSONValue) { webhooks[webhook.text("id")] = Tree(webhook) }

    /// The sender of each message.
    private static func text(of message: JSONValue) -> String {
        let parts = message.list("parts").map { part in part.text("body") }
        return "\(message["sender"]?.text("user_id") ?? ""): \(parts.joined(separator: ", "))"
    }

    // MARK: - From events

    mutating func apply(_ event: JSONValue) {
        guard let data = event["data"], let changes = event["changes"] else { return }
        let subject = event.text("subject")
        switch event.text("type") {
        case "conversation.created": keep(chat: data)
        case "conversation.deleted":
            chats[subject] = nil
            messages = messages.filter { $0.value.conversation != subject }
        case "conversation.updated.participants":
            chats[subject]?.participants = changes["participants"]?.names("order") ?? []
            chats[subject]?.isDistinct = false
        case "conversation.updated.metadata":
            for operation in changes.list("operations") {
                let path = operation.text("property").split(separator: ".").dropFirst()
                chats[subject]?.metadata.set(
                    path.map(String.init)[...], operation["value"].map(Tree.init))
            }
        case "conversation.merged": merge(into: subject, changes)
        case "message.sent": keep(message: data)
        // Of one that is deleted by now there are no parts.
        case "message.updated" where data["parts"] != nil:
            messages[subject]?.text = Self.text(of: data)
        case "message.deleted": messages[subject] = nil
        case "webhook.created", "webhook.updated", "webhook.secret_rotated": keep(webhook: data)
        case "webhook.deleted": webhooks[subject] = nil
        case "message.delivered", "message.read":
            for (user, status) in changes["recipient_status"]?.texts ?? [:] {
                for interval in changes.list("positions") {
                    raise(user, to: status, in: subject, interval)
                }
            }
        default: break
        }
    }

    /// Takes in what the aliases had; a message of each place named has gone to another one.
    private mutating func merge(into winner: String, _ changes: JSONValue) {
        for alias in changes.names("aliases") { chats[alias] = nil }
        for operation in changes.list("operations") {
            chats[winner]?.metadata = operation["value"].map(Tree.init) ?? .object([:])
        }
        messages = messages.mapValues { message in
            let stretch = changes.list("messages").first { stretch in
                stretch.text("conversation") == message.conversation
                    && ((stretch["from"]?.integer ?? 0)...(stretch["to"]?.integer ?? 0))
                        .contains(message.position)
            }
            guard let from = stretch?["from"]?.integer, let new = stretch?["moved_to"]?.integer
            else { return message }
            var message = message
            message.conversation = winner
            message.position += new - from
            return message
        }
    }

    private mutating func raise(
        _ user: String, to status: String, in chat: String, _ interval: JSONValue
    ) {
        let range = (interval["from"]?.integer ?? 0)...(interval["to"]?.integer ?? 0)
        for (id, message) in messages
        where message.conversation == chat && range.contains(message.position) {
            guard let known = message.status[user], known != "read" else { continue }
            messages[id]?.status[user] = status
        }
    }
}

extension LogCopy.Tree {
    init(_ value: JSONValue) {
        if let text = value.string {
            self = .text(text)
        } else {
            self = .object(
                value.members.reduce(into: [:]) { tree, member in
                    tree[member.key] = LogCopy.Tree(member.value)
                })
        }
    }

    /// Puts a value at a path, or takes what is there away.
    mutating func set(_ path: ArraySlice<String>, _ value: LogCopy.Tree?) {
        guard let key = path.first else {
            self = value ?? .object([:])
            return
        }
        var members: [String: LogCopy.Tree] = [:]
        if case .object(let known) = self { members = known }
        if path.count == 1 {
            members[key] = value
        } else {
            var child = members[key] ?? .object([:])
            child.set(path.dropFirst(), value)
            members[key] = child
        }
        self = .object(members)
    }
}

extension JSONValue {
    fileprivate func text(_ name: String) -> String { self[name]?.string ?? "" }

    fileprivate func list(_ name: String) -> [JSONValue] {
        self[name]?.elements.map(\.self) ?? []
    }

    fileprivate func names(_ name: String) -> [String] { list(name).compactMap(\.string) }

    fileprivate var texts: [String: String] {
        members.reduce(into: [:]) { texts, member in texts[member.key] = member.value.string }
    }
}
