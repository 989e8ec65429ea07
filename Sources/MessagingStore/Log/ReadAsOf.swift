public import Messaging
import SQL

// Reads with `?as_of=POSITION`: objects in their state right after the event at that position (ruling 27).
extension MessagingStore {
    /// A conversation as the system saw it.
    ///
    /// - Parameter id: Its id at that time, or an alias; the result has its own id.
    /// - Throws: `positionGone` for a trimmed position, `invalid("as_of")` for one after the end; `notFound`,
    ///   or `objectDeleted` if it was deleted by then.
    public func conversation(
        _ id: Conversation.ID, asOf position: LogPosition, in application: Application.ID
    ) async throws -> ConversationSnapshot {
        try await read(asOf: position, in: application) { history in
            let found = try history.existing(id, at: position)
            return try history.snapshot(of: found, at: position)
        }
    }

    /// A conversation as a user saw it.
    ///
    /// - Throws: As ``conversation(_:asOf:in:)``; `notFound` also for a deleted one, and if it was not in the user's
    ///   view.
    public func conversation(
        _ id: Conversation.ID, asOf position: LogPosition, seenBy user: UserID,
        in application: Application.ID
    ) async throws -> ConversationView {
        try await read(asOf: position, in: application) { history in
            try history.view(of: id, seenBy: user, at: position)
        }
    }

    /// A message as the system saw it.
    ///
    /// - Parameter conversation: The conversation it must have belonged to; `nil` for any.
    /// - Throws: As ``conversation(_:asOf:in:)``; `notFound` also for the message.
    public func message(
        _ id: Message.ID, asOf position: LogPosition, in conversation: Conversation.ID?,
        in application: Application.ID
    ) async throws -> MessageSnapshot {
        try await read(asOf: position, in: application) { history in
            let ownID = try conversation.map { id in try history.existing(id, at: position).id }
            guard let found = try history.present(id, at: position),
                ownID ?? found.conversation == found.conversation,
                try ownID != nil
                    || history.conversation(found.conversation, at: position)?.deletedAt == nil
            else { throw Rejection.notFound(.message) }
            return try history.snapshot(of: found, at: position)
        }
    }

    /// A page of a conversation's messages as the system or a user saw them, newest first.
    ///
    /// - Parameters:
    ///   - after: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items, at least 1.
    ///   - isCounted: Whether the page has the total.
    /// - Throws: As ``conversation(_:asOf:in:)``; `notFound` also for `after`.
    public func messages(
        in id: Conversation.ID, asOf position: LogPosition,
        seenBy perspective: Perspective = .system,
        after: Message.ID? = nil, limit: Int, isCounted: Bool = true,
        in application: Application.ID
    ) async throws -> ListPage<MessageSnapshot> {
        try await read(asOf: position, in: application) { history in
            let ownID: Conversation.ID
            var positions: IntervalSet
            if let user = perspective.user {
                let view = try history.seen(id, by: user, at: position)
                (ownID, positions) = (view.ownID, view.positions)
            } else {
                ownID = try history.existing(id, at: position).id
                positions = try history.positions(of: ownID, at: position)
            }
            let total = isCounted ? try history.count(in: ownID, at: positions, position) : nil
            if let after {
                guard let message = try history.present(after, at: position),
                    message.conversation == ownID, positions.contains(message.position.number)
                else { throw Rejection.notFound(.message) }
                positions = positions.subtracting(
                    IntervalSet(message.position.number...Int64.max))
            }
            let messages = try history.messages(
                in: ownID, at: positions, limit: limit, position)
            let page = BoundedPage(messages, weight: \.weight)
            return ListPage(
                items: try page.items.map { message in
                    try history.snapshot(of: message, seenBy: perspective, at: position)
                }, total: total, in: ownID, isCut: page.isCut)
        }
    }

    private func read<Value: Sendable>(
        asOf position: LogPosition, in application: Application.ID,
        _ body: @escaping @Sendable (inout ObjectHistory) throws -> Value
    ) async throws -> Value {
        try await database.read { transaction in
            try transaction.logExtent(in: application).check(position, "as_of")
            var history = ObjectHistory(transaction, from: position, in: application)
            return try body(&history)
        }
    }
}

extension ObjectHistory {
    /// A conversation that was live right after an event, by its id then or by a current alias.
    ///
    /// - Throws: `notFound`; `objectDeleted` if it was deleted by then.
    fileprivate mutating func existing(
        _ id: Conversation.ID, at position: LogPosition
    ) throws -> Conversation {
        var found = try conversation(id, at: position)
        if found == nil, let winner = try winner(of: id) {
            found = try conversation(winner, at: position)
        }
        guard let found else { throw Rejection.notFound(.conversation) }
        guard found.deletedAt == nil else { throw Rejection.objectDeleted }
        return found
    }

    /// A message that was sent and not deleted right after an event; otherwise `nil`.
    fileprivate mutating func present(
        _ id: Message.ID, at position: LogPosition
    ) throws -> Message? {
        guard let found = try message(id, at: position) else { return nil }
        let positions = IntervalSet(found.position.number...found.position.number)
        return try ids(at: positions, in: found.conversation, at: position).contains(id)
            ? found : nil
    }

    /// A user's view of a conversation right after an event: its id then, the participant and the visible positions.
    ///
    /// - Throws: `notFound` also when the conversation was deleted, or was not in the user's view.
    fileprivate mutating func seen(
        _ id: Conversation.ID, by user: UserID, at position: LogPosition
    ) throws -> (ownID: Conversation.ID, participant: Participant, positions: IntervalSet) {
        try requireUser(user)
        let ownID: Conversation.ID
        do {
            ownID = try existing(id, at: position).id
        } catch Rejection.objectDeleted {
            throw Rejection.notFound(.conversation)
        }
        let participant = try participants(of: ownID, at: position).map(\.participant)
            .first { participant in participant.userID == user }
        guard let participant, participant.state == .shown else {
            throw Rejection.notFound(.conversation)
        }
        let owner = ReceiptOwner(conversation: ownID, user: user)
        let all = try positions(of: ownID, at: position)
        let range = participant.range(upTo: Position(all.intervals.last?.upperBound ?? 0))
        return (
            ownID, participant,
            range.subtracting(try hidden(of: owner, within: range, at: position))
        )
    }

    /// A conversation as a user saw it right after an event.
    fileprivate mutating func view(
        of id: Conversation.ID, seenBy user: UserID, at position: LogPosition
    ) throws -> ConversationView {
        let (ownID, participant, positions) = try seen(id, by: user, at: position)
        guard let conversation = try conversation(ownID, at: position) else {
            throw Rejection.notFound(.conversation)
        }
        let owner = ReceiptOwner(conversation: ownID, user: user)
        let last = positions.intervals.last?.upperBound ?? 0
        let unread = positions.intersection(participant.stay(upTo: Position(last)))
            .subtracting(try receipts(of: owner, at: position).read)
        let newest = try messages(in: ownID, at: positions, limit: 1, position).first
        return ConversationView(
            id: ownID, createdAt: conversation.createdAt,
            participants: participant.isFormer
                ? [] : try snapshot(of: conversation, at: position).participants,
            participantCount: participant.isFormer ? 0 : conversation.participantCount,
            isDistinct: conversation.isDistinct,
            metadata: participant.isFormer
                ? try frozenMetadata(of: owner, at: position).view : conversation.metadata.view,
            lastMessage: try newest.map { message in
                try snapshot(of: message, seenBy: .user(user), at: position)
            },
            unreadCount: try count(in: ownID, at: unread, notBy: user, position),
            totalCount: try count(in: ownID, at: positions, position),
            isFormer: participant.isFormer,
            version: conversation.version)
    }
}
