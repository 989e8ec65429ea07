/// The caller's mistake, found while reading or deciding; nothing has been changed.
///
/// Property texts are those of rulings 5. Only `PlatformAPI` turns a rejection into an API error.
public enum Rejection: Error, Equatable, Sendable {
    /// What a look-up was for.
    public enum Subject: Equatable, Sendable {
        case application, token, user, identity, conversation, message, messagePart, content,
            announcement, export, exportKey, webhook, delivery
    }

    /// Never existed, is not visible here, or is a message deleted since.
    case notFound(Subject)
    /// The conversation existed and was deleted for all (R18).
    case objectDeleted
    /// Was once allowed and is no more: a former participant writes (R14).
    case accessDenied
    /// A user changes parts of a message that another one sent (client-api 4.3).
    case notSender
    /// A required member is absent; the text names it.
    case missing(String)
    /// A member has a bad value; the text names it.
    case invalid(String)
    /// The operation is legal in form and senseless here.
    case invalidOperation
    /// The creator has blocked somebody he names (R31).
    case participantBlocked
    /// More would have to be looked at than one answer is worth (X9).
    case tooMany
    /// The key of a repeat came with another request before (X2).
    case keyReused
    /// The request of this key is still worked on (X2).
    case inProgress
    /// The proposed id belongs to an object its proposer does not see.
    case idTaken(Subject)
    /// An application has as many of them as it may (webhooks §1.2).
    case full(Subject, limit: Int)
    /// A place of the log was asked for that is not kept any more (X3); the first that is.
    case positionGone(oldest: LogPosition)
}
