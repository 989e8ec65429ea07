import Messaging
import SQL

extension Transaction {
    /// The id of what a key has made; `nil` while the key is free.
    func object(
        madeWith key: Replay.Key, as kind: Replay.Kind, in application: Application.ID
    ) throws -> [UInt8]? {
        try askObject(madeWith: key, as: kind, in: application).first()
    }

    /// The same, asked ahead.
    func askObject(
        madeWith key: Replay.Key, as kind: Replay.Kind, in application: Application.ID
    ) throws -> DeferredRows<[UInt8]> {
        try ask(
            """
            SELECT object FROM replay_keys
            WHERE application = \(application) AND kind = \(kind.rawValue)
                AND replay_key = \(key)
            """
        ) { row in try row.blob(0) }
    }
}
