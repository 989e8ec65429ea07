internal import JSON
internal import Messaging
internal import MessagingWire

/// Reads the payloads of outbox rows, which are the bodies of their requests.
enum OutboxPayload {
    /// The limits of the largest server: a row was validated when it was made.
    private static let limits = MessagingLimits()

    /// A new conversation.
    static func conversation(_ payload: [UInt8]) throws -> Messaging.Conversation.Draft {
        try read(payload) { body throws(Rejection) in
            try ConversationDraftJSON.read(body, .v3_0, limits)
        }
    }

    /// The operations of a patch.
    static func patches(_ payload: [UInt8]) throws -> [ConversationPatch] {
        try read(payload) { body throws(Rejection) in
            try ConversationPatchJSON.read(body, .v3_0, limits)
        }
    }

    private static func read<Value>(
        _ payload: [UInt8], _ read: (JSONValue) throws(Rejection) -> Value
    ) throws -> Value {
        guard let document = try? JSONDocument(payload), let value = try? read(document.root) else {
            throw ParleyError(.storeCorrupt, "A command in the store is damaged.")
        }
        return value
    }
}
