import JSON
import Testing

/// The conversations, messages and webhooks as replicated by a backend that reads the log.
struct LogReplica: Equatable {
    struct ReplicatedConversation: Equatable {
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

    /// Metadata without order.
    indirect enum Tree: Equatable {
        case text(String)
        case object([String: Tree])
    }

    var conversations: [String: ReplicatedConversation] = [:]
    var messages: [String: Message] = [:]
    var webhooks: [String: Tree] = [:]

    // MARK: - Objects of the API

    mutating func store(conversation: JSONValue) {
        conversations[conversation.text("id")] = ReplicatedConversation(
            participants: conversation.list("participants").map { $0.text("id") },
            isDistinct: conversation["distinct"]?.bool ?? false,
            metadata: conversation["metadata"].map(Tree.init) ?? .object([:]))
    }

    mutating func store(message: JSONValue) {
        messages[message.text("id")] = Message(
            conversation: message["conversation"]?.text("id") ?? "",
            position: message["position"]?.integer ?? 0, text: Self.text(of: message),
            status: message["recipient_status"]?.texts ?? [:])
    }

    mutating func forgetStatuses() {
        for id in messages.keys { messages[id]?.status = [:] }
    }

    mutating func store(webhook: JSONValue) { webhooks[webhook.text("id")] = Tree(webhook) }

    /// The sender of each message.
    private static func text(of message: JSONValue) -> String {
        let parts = message.list("parts").map { part in part.text("body") }
        return "\(message["sender"]?.text("user_id") ?? ""): \(parts.joined(separator: ", "))"
    }

    // MARK: - Events

    mutating func apply(_ event: JSONValue) {
        guard let data = event["data"], let changes = event["changes"] else { return }
        let subject = event.text("subject")
        switch event.text("type") {
        case "conversation.created": store(conversation: data)
        case "conversation.deleted":
            conversations[subject] = nil
            messages = messages.filter { $0.value.conversation != subject }
        case "conversation.updated.participants":
            conversations[subject]?.participants = changes["participants"]?.names("order") ?? []
            conversations[subject]?.isDistinct = false
        case "conversation.updated.metadata":
            for operation in changes.list("operations") {
                let path = operation.text("property").split(separator: ".").dropFirst()
                conversations[subject]?.metadata.set(
                    path.map(String.init)[...], operation["value"].map(Tree.init))
            }
        case "conversation.merged": merge(into: subject, changes)
        case "message.sent": store(message: data)
        // A message that is deleted by now has no parts.
        case "message.updated" where data["parts"] != nil:
            messages[subject]?.text = Self.text(of: data)
        case "message.deleted": messages[subject] = nil
        case "webhook.created", "webhook.updated", "webhook.secret_rotated": store(webhook: data)
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

    /// Merges the aliases into the winner; the changes list the new positions of messages.
    private mutating func merge(into winner: String, _ changes: JSONValue) {
        for alias in changes.names("aliases") { conversations[alias] = nil }
        for operation in changes.list("operations") {
            conversations[winner]?.metadata = operation["value"].map(Tree.init) ?? .object([:])
        }
        messages = messages.mapValues { message in
            let relocation = changes.list("messages").first { relocation in
                relocation.text("conversation") == message.conversation
                    && ((relocation["from"]?.integer ?? 0)...(relocation["to"]?.integer ?? 0))
                        .contains(message.position)
            }
            guard let from = relocation?["from"]?.integer,
                let new = relocation?["moved_to"]?.integer
            else { return message }
            var message = message
            message.conversation = winner
            message.position += new - from
            return message
        }
    }

    private mutating func raise(
        _ user: String, to status: String, in conversation: String, _ interval: JSONValue
    ) {
        let range = (interval["from"]?.integer ?? 0)...(interval["to"]?.integer ?? 0)
        for (id, message) in messages
        where message.conversation == conversation && range.contains(message.position) {
            guard let known = message.status[user], known != "read" else { continue }
            messages[id]?.status[user] = status
        }
    }
}

extension LogReplica.Tree {
    init(_ value: JSONValue) {
        if let text = value.string {
            self = .text(text)
        } else {
            self = .object(
                value.members.reduce(into: [:]) { tree, member in
                    tree[member.key] = LogReplica.Tree(member.value)
                })
        }
    }

    /// Sets the value at a path, or removes it.
    mutating func set(_ path: ArraySlice<String>, _ value: LogReplica.Tree?) {
        guard let key = path.first else {
            self = value ?? .object([:])
            return
        }
        var members: [String: LogReplica.Tree] = [:]
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
