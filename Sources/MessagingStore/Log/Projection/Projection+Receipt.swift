import Messaging
import SQL

extension Projection {
    func record(_ recorded: ReceiptsRecorded) throws {
        let owner = ReceiptOwner(conversation: recorded.conversation, user: recorded.user)
        let receipts = try transaction.receipts(of: owner, in: application)
            .recording(recorded.kind, of: recorded.positions)
        try transaction.execute(
            """
            INSERT INTO receipts (application, conversation, user_id, delivered, read)
            VALUES (
                \(application), \(recorded.conversation), \(recorded.user),
                \(receipts.delivered.text), \(receipts.read.text)
            ) ON CONFLICT (application, conversation, user_id) DO UPDATE SET
                delivered = excluded.delivered, read = excluded.read
            """)
        guard recorded.kind == .read,
            let participant = try transaction.participant(
                recorded.user, in: recorded.conversation, in: application)
        else { return }
        // Only what he was present for this time was ever counted as unread (R12).
        let counted = recorded.positions.intersection(participant.currentStay)
        try transaction.execute(
            """
            UPDATE participants SET read_count = read_count + \(counted.count)
            WHERE application = \(application) AND conversation = \(recorded.conversation)
                AND user_id = \(recorded.user)
            """)
    }
}
