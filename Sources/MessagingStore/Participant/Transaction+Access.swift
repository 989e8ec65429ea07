import Messaging
import SQL

extension Transaction {
    /// A conversation a user takes or took part in, and his part, for a change on his behalf.
    ///
    /// To him one that is deleted, or that he never took part in, does not exist (platform-api
    /// §5.1.4); what he may do there his part says.
    func lockedConversation(
        _ id: Conversation.ID, for user: UserID, in application: Application.ID
    ) throws -> (conversation: Conversation, part: Participant) {
        do {
            let found = try lockedConversation(id, in: application)
            guard let part = try participant(user, in: found.id, in: application) else {
                throw Rejection.notFound(.conversation)
            }
            return (found, part)
        } catch Rejection.objectDeleted {
            throw Rejection.notFound(.conversation)
        }
    }

    /// A conversation in a user's view, and his part there.
    func shownConversation(
        _ id: Conversation.ID, for user: UserID, in application: Application.ID
    ) throws -> (id: Conversation.ID, part: Participant) {
        let id = try winner(of: id, in: application) ?? id
        guard let part = try participant(user, in: id, in: application) else {
            throw Rejection.notFound(.conversation)
        }
        try part.requireReading()
        return (id, part)
    }

    /// A message that lives and that the user sees.
    func visibleMessage(
        _ id: Message.ID, for user: UserID, in application: Application.ID
    ) throws -> Message {
        let message = try liveMessage(id, in: nil, in: application)
        guard try isVisible(message, for: user, in: application) else {
            throw Rejection.notFound(.message)
        }
        return message
    }

    /// Whether a message stands in a user's view.
    func isVisible(
        _ message: Message, for user: UserID, in application: Application.ID
    ) throws -> Bool {
        guard let part = try participant(user, in: message.conversation, in: application),
            part.sees(message.position)
        else { return false }
        let owner = ReceiptOwner(conversation: message.conversation, user: user)
        let place = message.position.number
        return try hiddenPositions(of: owner, within: IntervalSet(place...place), in: application)
            .isEmpty
    }

    /// The positions of a range whose messages are hidden from a user one by one.
    func hiddenPositions(
        of owner: ReceiptOwner, within range: IntervalSet, in application: Application.ID
    ) throws -> IntervalSet {
        guard let low = range.intervals.first, let high = range.intervals.last else { return range }
        let found = try rows(
            """
            SELECT position FROM hidden_messages
            WHERE application = \(application) AND conversation = \(owner.conversation)
                AND position BETWEEN \(low.lowerBound) AND \(high.upperBound)
                AND user_id = \(owner.user)
            """
        ) { row in try row.int64(0) }
        return IntervalSet(found.map { place in place...place })
    }
}
