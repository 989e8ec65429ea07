internal import JSON
internal import Messaging
internal import MessagingWire

/// Collects items of the feed and applies them to the store, with their cursor, in one transaction (K10).
///
/// Two requests may read the feed at the same time: the stream, and a pass of ``ParleyClient/catchUp(within:)``. What the one
/// that is behind brings may be older than what is in the store, and is not applied.
struct FeedApplier {
    /// The most items of one transaction.
    static let batchSize = 200
    /// A batch of so few items is not divided, because they may be of one event (``isDue``).
    private static let undividedSize = 20
    /// How long the first items of an event wait for the rest of it.
    private static let partialEventTimeout = Duration.seconds(1)

    private enum Step: Sendable {
        case item(FeedItemJSON, JSONValue)
        case reset
        case end
    }

    private let store: Store
    /// The cursor of the store, as long as nothing else applies the feed.
    private var base: String?
    /// How long a transaction may take, because commands wait meanwhile (K16).
    private let limit: Duration
    /// What was collected, each with the cursor behind it.
    private var steps: [(step: Step, cursor: String?)] = []
    private var cursor: String?
    private var applied = ContinuousClock.now

    /// - Parameter cursor: That of the store when the feed was requested.
    init(_ store: Store, after cursor: String?, limit: Duration = .milliseconds(50)) {
        self.store = store
        base = cursor
        self.limit = limit
    }

    /// Whether enough was collected for a transaction.
    var isFull: Bool { steps.count >= Self.batchSize }

    /// Whether the collected items can be applied: the last event of the log is complete, or its rest has not arrived within
    /// one second. The items of one event are applied together, because a conversation's counts include its messages.
    var isDue: Bool {
        guard let position = cursor.flatMap({ text in FeedPosition(text) }) else { return true }
        return position.isWhole || applied + Self.partialEventTimeout < .now
    }

    /// Whether the last event says that the client has everything.
    var isAtEnd: Bool { if case .end? = steps.last?.step { true } else { false } }

    /// Takes an event of the stream.
    ///
    /// - Returns: The signal, if it is one; it is not stored.
    /// - Throws: `server` for an item that is malformed. Unknown events and types are ignored (K69).
    mutating func add(_ event: ServerSentEvent) throws(ParleyError) -> Signal? {
        switch event.type {
        case "item":
            guard let document = try? JSONDocument(event.data) else { throw Self.malformed("") }
            try add(document.root, event.id)
        case "reset": steps.append((.reset, event.id))
        case "ready": steps.append((.end, event.id))
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
        if answer["reset"]?.bool == true { steps.append((.reset, nil)) }
        for item in items.elements { try add(item, nil) }
        if !more { steps.append((.end, nil)) }
        if let last = steps.indices.last { steps[last].cursor = cursor }
        try await apply()
        return more
    }

    /// The cursor for the answer after this one, if more follows.
    static func cursorOfNext(_ answer: JSONValue) -> String? {
        answer["more"]?.bool == true ? answer["cursor"]?.string : nil
    }

    private mutating func add(_ item: JSONValue, _ cursor: String?) throws(ParleyError) {
        do throws(FeedItemError) {
            guard let read = try FeedItemJSON.read(item), let data = item["data"] else { return }
            steps.append((.item(read, data), cursor))
        } catch {
            throw Self.malformed(error.id ?? "")
        }
    }

    private static func malformed(_ id: String) -> ParleyError {
        ParleyError(.server, "An item of the feed is malformed: \(id).", isTransient: true)
    }

    /// Applies what was collected; does nothing without. A transaction that takes too long is ended before the next item, so
    /// that commands that wait come between.
    ///
    /// - Throws: ``ParleyError/feedHasMoved`` if another request has applied something meanwhile.
    mutating func apply() async throws(ParleyError) {
        let isDivided = steps.count > Self.undividedSize
        while !steps.isEmpty {
            let (steps, limit, base) = (steps, limit, base)
            let last = steps.last { step in step.cursor != nil }?.cursor
            let (count, cursor) = try await store.write { transaction in
                let stored = try transaction.setting("cursor")
                guard stored == base || Self.isBehind(stored, last) else {
                    throw ParleyError.feedHasMoved
                }
                let end = ContinuousClock.now + limit
                // If another request has moved the store on, the first steps may be older than the store: they are
                // committed only with the others.
                let isDivided = isDivided && stored == base
                var (count, cursor): (Int, String?) = (0, nil)
                repeat {
                    cursor = steps[count].cursor ?? cursor
                    switch steps[count].step {
                    case .item(let item, let data): try transaction.apply(item, data)
                    case .reset: try transaction.beginSnapshot()
                    case .end:
                        try transaction.reachEnd(at: cursor.flatMap { text in FeedPosition(text) })
                    }
                    count += 1
                } while count < steps.count && !(isDivided && ContinuousClock.now >= end)
                if let cursor { try transaction.set("cursor", cursor) }
                try transaction.settle()
                return (count, cursor)
            }
            self.steps.removeFirst(count)
            self.base = cursor ?? base
            applied = .now
        }
    }

    /// Whether a cursor is not later than another one. Inside an event, a snapshot or a catch-up that is not known.
    private static func isBehind(_ stored: String?, _ cursor: String?) -> Bool {
        guard let stored = stored.flatMap({ text in FeedPosition(text) }), stored.isWhole,
            let cursor = cursor.flatMap({ text in FeedPosition(text) }), cursor.isWhole
        else { return false }
        return stored.epoch == cursor.epoch && stored.position <= cursor.position
    }
}

extension ParleyError {
    /// See ``FeedApplier``.
    static let feedHasMoved = ParleyError(
        .network, "Another request has received what this one has.", isTransient: true)
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
