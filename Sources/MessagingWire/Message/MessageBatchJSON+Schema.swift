public import JSON
import Messaging

extension MessageBatchJSON {
    /// What `POST …/messages` reads: one message, or from 2.0 on a batch of them.
    public static func sendingSchema(_ version: APIVersion) -> JSONSchema {
        let one = MessageDraftJSON.schema(version)
        guard version.namesIdentities else { return one }
        return .anyOf([one, .array(of: one, 1...Message.batchLimit)])
    }
}
