import Messaging
import SQL

// What an import asks before it brings a record.
extension Transaction {
    /// Whether nobody has used an application for anything.
    func isUnused(_ application: Application.ID) throws -> Bool {
        let tables: [StaticString] = ["identities", "conversations", "contents", "announcements"]
        return try tables.allSatisfy { table in
            try first("SELECT 1 FROM \(raw: table) WHERE application = \(application) LIMIT 1") {
                _ in true
            } == nil
        }
    }

    /// Whom a user follows, by will or not, and blocks.
    func relations(
        of user: UserID, in application: Application.ID
    ) throws -> (followed: Set<UserID>, blocked: Set<UserID>) {
        let followed = try rows(
            """
            SELECT followed FROM following
            WHERE application = \(application) AND follower = \(user)
            """
        ) { row in try row.user(0) }
        let blocked = try rows(
            "SELECT blocked FROM blocks WHERE application = \(application) AND owner = \(user)"
        ) { row in try row.user(0) }
        return (Set(followed), Set(blocked))
    }

    /// In which conversation a message stands.
    func askHome(
        of message: Message.ID, in application: Application.ID
    ) throws -> DeferredRows<Conversation.ID> {
        try ask(
            """
            SELECT conversation FROM messages
            WHERE application = \(application) AND id = \(message)
            """
        ) { row in try row.id(0) }
    }

    /// Which message has a place.
    func askMessage(
        at place: Position, in conversation: Conversation.ID, in application: Application.ID
    ) throws -> DeferredRows<Message.ID> {
        try ask(
            """
            SELECT id FROM messages
            WHERE application = \(application) AND conversation = \(conversation)
                AND position = \(place)
            """
        ) { row in try row.id(0) }
    }

    func isDropped(
        _ content: Content.ID, in application: Application.ID
    ) throws -> Bool {
        try first(
            """
            SELECT 1 FROM dropped_contents
            WHERE application = \(application) AND content = \(content)
            """
        ) { _ in true } ?? false
    }
}
