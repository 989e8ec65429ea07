internal import JSON
internal import Messaging
internal import MessagingWire

/// Collects items of the feed and applies them to the store, with their cursor, in one transaction (K10).
struct FeedApplier {
    /// The most items of one transaction.
    static let batchSize = 200
    /// How long the first items of an event wait for the rest of it.
    private static let partialEventTimeout = Duration.seconds(1)

    private enum Step: Sendable {
        case item(FeedItemJSON, JSONValue)
        case reset
        case end
    }

    private let store: Store
    private var steps: [Step] = []
    private var cursor: String?
    private var applied = ContinuousClock.now

    init(_ store: Store) { self.store = store }

    /// Whether enough was collected for a transaction.
    var isFull: Bool { steps.count >= Self.batchSize }

    /// Whether the collected items can be applied: the last event of the log is complete, or its rest has not arrived within
    /// one second. The items of one event are applied together, because a conversation's counts include its messages.
    var isDue: Bool {
        guard let position = cursor.flatMap({ text in FeedPosition(text) }) else { return true }
        return position.isWhole || applied + Self.partialEventTimeout < .now
    }

    /// Whether the last event says that the client has everything.
    var isAtEnd: Bool { if case .end? = steps.last { true } else { false } }

    /// Takes an event of the stream.
    ///
    /// - Returns: The signal, if it is one; it is not stored.
    /// - Throws: `server` for an item that is malformed. Unknown events and types are ignored (K69).
    mutating func add(_ event: ServerSentEvent) throws(ParleyError) -> Signal? {
        switch event.type {
        case "item":
            guard let document = try? JSONDocument(event.data) else { throw Self.malformed("") }
            try add(document.root)
        case "reset": steps.append(.reset)
        case "ready": steps.append(.end)
        case "signal":
            return (try? JSONDocument(event.data)).flatMap { Signal($0.root) }
        default: return nil
        }
        if let id = event.id { cursor = id }
        return nil
    }

    /// Applies an answer of the feed in the form of JSON.
    ///
    /// - Returns: Whether more follows.
    mutating func apply(answer: JSONValue) async throws(ParleyError) -> Bool {
        guard let items = answer["items"], items.kind == .array, let more = answer["more"]?.bool,
            let cursor = answer["cursor"]?.string
        else { throw .noAnswer }
        if answer["reset"]?.bool == true { steps.append(.reset) }
        for item in items.elements { try add(item) }
        if !more { steps.append(.end) }
        self.cursor = cursor
        try await apply()
        return more
    }

    private mutating func add(_ item: JSONValue) throws(ParleyError) {
        do throws(FeedItemError) {
            guard let read = try FeedItemJSON.read(item), let data = item["data"] else { return }
            steps.append(.item(read, data))
        } catch {
            throw Self.malformed(error.id ?? "")
        }
    }

    private static func malformed(_ id: String) -> ParleyError {
        ParleyError(.server, "An item of the feed is malformed: \(id).", isTransient: true)
    }

    /// Applies what was collected; does nothing without.
    mutating func apply() async throws(ParleyError) {
        guard !steps.isEmpty else { return }
        let (steps, cursor) = (steps, cursor)
        self.steps = []
        applied = .now
        try await store.write { transaction in
            for step in steps {
                switch step {
                case .item(let item, let data): try transaction.apply(item, data)
                case .reset: try transaction.beginSnapshot()
                case .end: try transaction.reachEnd()
                }
            }
            if let cursor { try transaction.set("cursor", cursor) }
            try transaction.settle()
        }
    }
}

extension Signal {
    /// Reads the body of a signal; `nil` for one of an unknown kind.
    init?(_ body: JSONValue) {
        guard let object = body["object"]?["id"]?.string, let data = body["data"] else {
            return nil
        }
        switch body["type"]?.string {
        case "typing_indicator":
            guard let conversation = Conversation.ID(object),
                let action = data["action"]?.string.flatMap(TypingAction.init(rawValue:)),
                let user = data["sender"]?["user_id"]?.string
            else { return nil }
            self = .typing(action, by: UserID(user), in: conversation)
        case "presence":
            guard let user = UserIDJSON.read(query: object, .v3_0),
                let status = data["status"]?.string.flatMap(PresenceStatus.init(rawValue:))
            else { return nil }
            self = .presence(status, of: UserID(user))
        default: return nil
        }
    }
}
