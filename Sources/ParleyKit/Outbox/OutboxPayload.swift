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

    /// A creation whose metadata are changed before it is sent (K54); `nil` if the operations must follow it.
    ///
    /// They follow the creation of a distinct conversation without metadata, because that accepts whatever an existing
    /// conversation has, and operations on participants, because these end the distinctness.
    static func creation(_ payload: [UInt8], with patches: [ConversationPatch]) throws -> [UInt8]? {
        let draft = try conversation(payload)
        guard !draft.isDistinct || draft.metadata != nil else { return nil }
        var metadata = draft.metadata.map { tree in Metadata(tree) } ?? .empty
        for patch in patches {
            switch patch {
            case .setMetadata(let path, let tree):
                metadata = metadata.setting(Metadata(tree), at: path[...])
            case .deleteMetadata(let path): metadata = metadata.deleting(at: path[...])
            case .addParticipant, .removeParticipant, .setParticipants: return nil
            }
        }
        let changed = try? Messaging.Conversation.Draft(
            participants: draft.participants.users, isDistinct: draft.isDistinct,
            metadata: metadata.tree, proposedID: draft.proposedID, limits)
        return changed.map { draft in ConversationDraftJSON.body(draft) }
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
