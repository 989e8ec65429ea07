internal import HTTP
internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

/// How far back ``ParleyClient/loadAll(in:upTo:)`` goes.
public enum LoadGoal: Sendable {
    /// To the first message.
    case start
    /// To the first message that the user has not read.
    case firstUnread
}

extension ParleyClient {
    /// Receives messages that are older than those on this device; needs the network.
    ///
    /// - Parameter count: The most messages to receive.
    /// - Returns: How many there were; fewer than `count` if the beginning is reached.
    /// - Throws: `conversationGone`, or an error of the network.
    @discardableResult
    public func loadOlder(
        _ count: Int, in id: Conversation.ID
    ) async throws(ParleyError) -> Int {
        var loaded = 0
        while loaded < count {
            let rest = count - loaded
            let page = try await loadPage(in: id) { _ in Int64(rest) }
            loaded += page.count
            if page.oldest == 1 { break }
        }
        return loaded
    }

    /// Receives all older messages up to a goal; needs the network.
    ///
    /// - Throws: `conversationGone`, or an error of the network; what was received until then is stored.
    public func loadAll(
        in id: Conversation.ID, upTo goal: LoadGoal = .start
    ) async throws(ParleyError) {
        while try await isMissing(goal, in: id) {
            if try await loadPage(in: id, atMost: { _ in .max }).oldest == 1 { return }
        }
    }

    private static var pageSize: Int64 { 100 }

    private func isMissing(
        _ goal: LoadGoal, in id: Conversation.ID
    ) async throws(ParleyError) -> Bool {
        guard goal == .firstUnread else { return true }
        return try await store.read { sql in
            let id = try sql.currentID(of: id)
            let counts = try sql.first(
                """
                SELECT unread_count AS all_unread,
                    (SELECT count(*) FROM messages WHERE conversation = \(id.bytes) AND is_unread = 1) AS here
                FROM conversations WHERE id = \(id.bytes)
                """
            ) { row in (all: try row.int("all_unread"), here: try row.int("here")) }
            return counts.map { counts in counts.here < counts.all } ?? false
        }
    }

    /// Receives the page before the oldest message from which on nothing is missing.
    ///
    /// - Parameter limit: Returns the most messages to receive before a position, which is `Int64.max` if nothing is here.
    /// - Returns: How many there were, and the position from which on nothing is missing now; 1 if there are no older ones.
    func loadPage(
        in id: Conversation.ID, atMost limit: (Int64) -> Int64
    ) async throws(ParleyError) -> (count: Int, oldest: Int64) {
        let place = try await store.read { sql in
            try StoreTransaction(sql).oldestHeld(in: try sql.currentID(of: id))
        }
        let size = min(limit(place.position), Self.pageSize)
        guard place.position > 1, size > 0 else { return (0, max(1, place.position)) }
        let from = place.message.map { message in "&from_id=\(message.value.uuid)" } ?? ""
        let response = try await engine.send(
            TransportRequest(
                method: .get,
                path:
                    "/conversations/\(place.conversation.value.uuid)/messages?page_size=\(size)\(from)",
                headers: [("Accept", SyncEngine.accept)]))
        let body = (try? JSONDocument(response.body))?.root
        guard response.status == 200 else {
            throw ParleyError(status: response.status, body)
        }
        guard let body, body.kind == .array else { throw .noAnswer }
        var messages: [MessageSnapshot] = []
        for element in body.elements {
            guard let message = MessageJSON.readResponse(element) else { throw .noAnswer }
            messages.append(message.snapshot)
        }
        let isLast = messages.count < size
        let positions = messages.map(\.message.position.number)
        let oldest = positions.min() ?? 1
        // Without an answer that goes on, the next request would be the same.
        guard oldest < place.position else { return (0, 1) }
        try await store.write { [messages] transaction in
            for message in messages {
                try transaction.apply(message, Message.ID(message.message.id))
            }
            try transaction.hold(
                from: isLast ? 1 : oldest, through: positions.max() ?? 0, upTo: place)
        }
        return (messages.count, isLast ? 1 : oldest)
    }
}

/// From where on a device has every message of a conversation.
struct HeldPlace: Sendable {
    let conversation: Conversation.ID
    /// The lowest position; `Int64.max` if there is none.
    let position: Int64
    /// The oldest message from there on; `nil` if there is none.
    let message: Message.ID?
}

extension StoreTransaction {
    fileprivate func oldestHeld(in id: Conversation.ID) throws -> HeldPlace {
        try requireConversation(id, asParticipant: false)
        let held = try heldPositions(of: id)
        let position = held.intervals.last?.lowerBound ?? .max
        let message = try sql.first(
            """
            SELECT id FROM messages WHERE conversation = \(id.bytes) AND place >= \(position)
                AND position IS NOT NULL ORDER BY place LIMIT 1
            """
        ) { row in Message.ID(stored: try row.blob("id")) }
        return HeldPlace(conversation: id, position: position, message: message ?? nil)
    }

    /// Records that every message from a position up to the place of a request is here; if nothing was, up to the newest
    /// message of the answer.
    ///
    /// Nothing is recorded if the conversation was merged meanwhile, because its positions are new then.
    fileprivate func hold(
        from position: Int64, through newest: Int64, upTo place: HeldPlace
    ) throws {
        let id = place.conversation
        let held = try heldPositions(of: id)
        let last = place.position == .max ? newest : place.position - 1
        guard place.position == .max ? held.isEmpty : held.contains(place.position),
            position <= last
        else { return }
        let now = held.union(IntervalSet(position...last))
        try sql.execute("UPDATE conversations SET held = \(now.text) WHERE id = \(id.bytes)")
        noteMessages(of: id)
    }
}
