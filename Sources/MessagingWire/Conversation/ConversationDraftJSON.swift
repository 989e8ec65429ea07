public import JSON
public import Messaging

/// The body of `POST …/conversations` (platform-api §5.1.1).
public enum ConversationDraftJSON {
    /// Reads a draft, member by member in the fixed order of platform-api §1.6.
    ///
    /// - Parameter body: An object; members it does not know are ignored.
    /// - Throws: The first problem, with the name of the member at fault.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> Conversation.Draft {
        let participants = try participants(body, version)
        let isDistinct = try isDistinct(body)
        let metadata = try metadata(body)
        let id: Conversation.ID? = try IdentifierJSON.proposed(in: body, .conversations)
        return try Conversation.Draft(
            participants: participants, isDistinct: isDistinct, metadata: metadata, proposedID: id)
    }

    private static func participants(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> [UserID] {
        guard let value = body.present("participants") else { throw .missing("participants") }
        guard let users = UserIDJSON.list(value, version) else { throw .invalid("participants") }
        guard (1...Participants.limit).contains(users.count) else {
            throw .invalid("participants")
        }
        return users
    }

    private static func isDistinct(_ body: JSONValue) throws(Rejection) -> Bool {
        guard let value = body.present("distinct") else { return false }
        guard let isDistinct = value.bool else { throw .invalid("distinct") }
        return isDistinct
    }

    private static func metadata(_ body: JSONValue) throws(Rejection) -> MetadataTree? {
        guard let value = body.present("metadata") else { return nil }
        guard value.kind == .object, let tree = MetadataJSON.read(value) else {
            throw .invalid("metadata")
        }
        try tree.check(as: "metadata")
        return tree
    }
}
