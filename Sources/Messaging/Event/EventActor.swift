/// Who made something happen: a user, a service that has only a name, or the holder of a token.
public enum EventActor: Equatable, Sendable {
    case user(UserID)
    case named(String)
    case token(Token.ID)

    /// Who sent something.
    public init(_ sender: Sender) {
        switch sender {
        case .user(let user): self = .user(user)
        case .named(let name): self = .named(name)
        }
    }
}

extension Event {
    /// Who did it, where the event itself says so; whoever recorded others is written beside them.
    public var author: EventActor? {
        switch self {
        case .messageSent(let sent): EventActor(sent.message.sender)
        case .messageScheduled(let scheduled): EventActor(scheduled.message.draft.sender)
        case .announcementSent(let sent): EventActor(sent.announcement.sender)
        case .announcementReceived(let received): .user(received.user)
        case .announcementDeleted(_, let user, _): .user(user)
        case .receiptsRecorded(let receipts): .user(receipts.user)
        case .conversationHidden(let hidden): .user(hidden.user)
        case .messageHidden(let hidden): .user(hidden.user)
        case .followingChanged(let change): .user(change.follower)
        case .contentOwned(_, let user): .user(user)
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .identityNamed, .conversationCreated, .conversationMatched, .conversationMerged,
            .conversationShown,
            .conversationAnnounced, .participantsChanged, .metadataChanged, .conversationDeleted,
            .messageDeleted, .contentUploaded, .contentWithdrawn, .blocksChanged,
            .notificationSent, .partsChanged, .exportKeyChanged, .exportRequested, .exportStarted,
            .exportCompleted, .exportDeleted, .exportExpired, .exportErased,
            .exportScheduleChanged, .identityReplaced, .identityPatched, .identityDeleted,
            .badgeSet,
            .userSuspended, .sessionsEnded, .sessionLifetimeSet, .scheduleEnded, .batchAccepted,
            .contentsErased, .messageRemoved, .conversationRemoved, .recordImported,
            .webhookCreated, .webhookUpdated, .webhookSecretRotated, .webhookDeleted:
            nil
        }
    }
}
