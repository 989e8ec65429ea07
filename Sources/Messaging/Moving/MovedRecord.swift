/// One thing of an application as it is brought from one server to another, with its id and its times
/// (X10).
///
/// An application is the same wherever its records are the same: what else stands in rows follows from
/// them.
public enum MovedRecord: Equatable, Sendable {
    /// What an application is called, and since when: for one in which nothing has happened yet.
    case application(Application)
    /// A user, and what was told about him.
    case user(MovedUser)
    /// Whom a user follows and blocks.
    case relations(MovedRelations)
    /// A conversation without its messages, with what each participant sees of it.
    case conversation(MovedConversation)
    /// A message with the contents its parts attach.
    case message(MovedMessage)
    /// A content that no message has come for yet.
    case content(MovedContent)
    /// A message that waits to be sent.
    case scheduled(MovedSchedule)
    /// An announcement with what its recipients have made of it.
    case announcement(MovedAnnouncement)
    /// A key under which something was made.
    case key(MovedKey)
}
