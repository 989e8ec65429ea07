public import JSON
public import Messaging

/// A batch of messages, the other body of `POST …/messages` from 2.0 on (platform-api §5.2.1).
public enum MessageBatchJSON {
    /// Whether a body is a batch in that version.
    public static func isBatch(_ body: JSONValue, _ version: APIVersion) -> Bool {
        version.namesIdentities && body.kind == .array
    }

    /// Reads the messages one after another, each as ``MessageDraftJSON`` does.
    ///
    /// - Parameter body: An array.
    /// - Throws: `invalid("messages")` for none, more than 12, or what is no object; the first problem
    ///   of the first message that has one; `invalid("id")` for an id that two of them propose.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> [Message.Sending] {
        guard (1...Message.batchLimit).contains(body.count) else {
            throw .invalid("messages", .batchCount, .init(amount: body.count))
        }
        var ids: Set<Message.ID> = []
        var batch: [Message.Sending] = []
        for element in body.elements {
            guard element.kind == .object else { throw .invalid("messages", .batchElement) }
            let message = try MessageDraftJSON(element, version)
            if let id = message.draft.proposedID, !ids.insert(id).inserted {
                throw .invalid("id", .messageIDTwice)
            }
            batch.append(Message.Sending(message.draft, message.schedule))
        }
        return batch
    }
}
