import Messaging
import SQL

extension Projection {
    func apply(_ change: BlocksChanged) throws {
        try know([change.owner])
        for some in change.removed.powers(upTo: 256) {
            try transaction.execute(
                """
                DELETE FROM blocks WHERE application = \(application)
                    AND owner = \(change.owner) AND blocked IN (\(list: some.map(\.text)))
                """)
        }
        try know(change.added)
        for some in change.added.powers(upTo: 256) {
            let rows = some.map { user -> [SQLValue] in
                [application.bytes.sqlValue, change.owner.text.sqlValue, user.text.sqlValue]
            }
            try transaction.execute(
                """
                INSERT INTO blocks (application, owner, blocked) VALUES \(rows: rows)
                ON CONFLICT (application, owner, blocked) DO NOTHING
                """)
        }
    }
}
