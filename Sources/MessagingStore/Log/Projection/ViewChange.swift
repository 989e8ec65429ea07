import Messaging
import SQL

/// What messages of one conversation, sent one after the other, change in the views of who takes part.
struct ViewChange {
    private var last: Message
    private var count: Int64 = 1
    /// How many of them each has sent; services are left out.
    private var sent: [UserID: Int64] = [:]

    init(_ message: Message) {
        last = message
        note(message.sender)
    }

    func adding(_ message: Message) -> ViewChange {
        var change = self
        change.last = message
        change.count += 1
        change.note(message.sender)
        return change
    }

    private mutating func note(_ sender: Sender) {
        if let user = sender.userID { sent[user, default: 0] += 1 }
    }

    /// - Parameter hidden: Whose views they do not come into.
    func sql(leavingOut hidden: [UserID], in application: Application.ID) -> SQL {
        let bystanders = hidden.isEmpty ? [""] : hidden.map(\.text)
        return """
            UPDATE participants SET
                total_count = total_count + \(count),
                unread_count = unread_count + \(count) - CASE user_id \(few: sent) ELSE 0 END,
                last_position = \(last.position), last_message = \(last.id), last_at = \(last.sentAt)
            WHERE application = \(application) AND conversation = \(last.conversation)
                AND left_after IS NULL AND user_id NOT IN (\(few: bystanders))
            """
    }
}

extension SQL.StringInterpolation {
    /// The branches of a `CASE`, filled up to a power of two by repeating one, which changes nothing.
    fileprivate mutating func appendInterpolation(few counts: [UserID: Int64]) {
        let counts =
            counts.isEmpty ? [(user: "", count: 0)] : counts.map { ($0.key.text, $0.value) }
        var length = 1
        while length < counts.count { length *= 2 }
        for number in 0..<length {
            let (user, count) = counts[min(number, counts.count - 1)]
            appendLiteral("WHEN ")
            appendInterpolation(user)
            appendLiteral(" THEN ")
            appendInterpolation(count)
            appendLiteral(" ")
        }
    }
}
