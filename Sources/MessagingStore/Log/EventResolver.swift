internal import Bytes
import Messaging
import SQL

/// Adds to recorded events the objects that they show, in their state right after each event (ruling 27).
struct EventResolver {
    private let application: Application.ID
    private let hash: @Sendable ([UInt8]) -> [UInt8]
    var history: ObjectHistory

    /// - Parameter first: The earliest event that will be resolved.
    init(
        _ transaction: Transaction, from first: LogPosition, in application: Application.ID,
        hash: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.application = application
        self.hash = hash
        history = ObjectHistory(transaction, from: first, in: application)
    }

    /// Resolves events in ascending order.
    ///
    /// - Returns: As many as fit into one response, at least one.
    mutating func resolve(_ events: [RecordedEvent]) throws -> [ResolvedEvent] {
        try load(events)
        var resolved: [ResolvedEvent] = []
        for recorded in events {
            guard resolved.isEmpty || history.weight <= ResponseBudget.bytes else { break }
            resolved.append(
                ResolvedEvent(
                    id: .naming(recorded, in: application, by: hash), recorded: recorded,
                    object: try recorded.event.stored.object(
                        at: recorded.position, &history)))
        }
        return resolved
    }

    /// Loads the objects that the events refer to, with one statement for each kind of object.
    private mutating func load(_ events: [RecordedEvent]) throws {
        var objects = ReferencedObjects()
        for recorded in events {
            if case .user(let user) = recorded.actor { objects.users.insert(user) }
            recorded.event.stored.collect(into: &objects)
        }
        try history.load(
            users: objects.users, conversations: objects.conversations, messages: objects.messages)
    }
}

extension ObjectHistory {
    /// A conversation as the object of an event; none if it did not exist.
    mutating func object(
        _ id: Conversation.ID, at position: LogPosition
    ) throws -> ResolvedEvent.Object {
        guard let conversation = try conversation(id, at: position) else { return .none }
        return .conversation(try snapshot(of: conversation, at: position))
    }
}

extension EventID {
    /// The id of an event. It is derived from the position, so it is the same whenever the event is delivered, and
    /// receivers can detect duplicates.
    ///
    /// - Parameter part: Distinguishes several webhook events of one event; empty for the event itself.
    static func naming(
        _ recorded: RecordedEvent, _ part: [UInt8] = [], in application: Application.ID,
        by hash: ([UInt8]) -> [UInt8]
    ) -> EventID {
        let bits = hash(application.bytes + recorded.position.number.bigEndianBytes + part).prefix(
            16
        )
        .reduce(UInt128(0)) { bits, byte in bits << 8 | UInt128(byte) }
        return .v7(at: recorded.at, random: bits)
    }
}
