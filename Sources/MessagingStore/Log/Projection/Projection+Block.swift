import Messaging
import SQL

extension Projection {
    func apply(_ change: BlocksChanged) throws {
        try know(change.owner)
        for user in change.removed {
            try transaction.execute(
                """
                DELETE FROM blocks WHERE application = \(application)
                    AND owner = \(change.owner) AND blocked = \(user)
                """)
        }
        for user in change.added {
            try know(user)
            try transaction.execute(
                """
                INSERT INTO blocks (application, owner, blocked)
                VALUES (\(application), \(change.owner), \(user))
                ON CONFLICT (application, owner, blocked) DO NOTHING
                """)
        }
    }
}
