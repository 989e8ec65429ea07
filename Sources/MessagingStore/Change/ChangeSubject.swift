import Messaging

/// Something that answers show and events change.
enum ChangeSubject: Hashable, Sendable {
    /// Whatever the messages of a conversation show to anybody, but for the name of their sender.
    case messages(Conversation.ID, Application.ID)
    /// What is known of a user.
    case user(UserID, Application.ID)
}

extension Event {
    /// What of messages that were sent before the event may look different after it.
    ///
    /// A sending adds a message and may bring the conversation back into a view; it changes nothing of
    /// what is shown already. Whatever else names a conversation counts, needed or not.
    func changes(in application: Application.ID) -> [ChangeSubject] {
        switch self {
        case .messageSent, .messageScheduled, .scheduleEnded, .batchAccepted: []
        case .conversationCreated(let created):
            [.messages(created.conversation.id, application)]
        case .conversationMatched(let match): [.messages(match.conversation, application)]
        case .conversationMerged(let merge):
            [merge.winner, merge.loser].compactMap(\.self).map { id in .messages(id, application) }
        case .conversationShown(let shown): [.messages(shown.conversation, application)]
        case .conversationAnnounced(let id, _): [.messages(id, application)]
        case .conversationHidden(let hidden): [.messages(hidden.conversation, application)]
        case .participantsChanged(let change): [.messages(change.conversation, application)]
        case .metadataChanged(let change): [.messages(change.conversation, application)]
        case .conversationDeleted(let id, _): [.messages(id, application)]
        case .messageDeleted(_, let conversation, _): [.messages(conversation, application)]
        case .conversationRemoved(let removed): [.messages(removed.conversation.id, application)]
        case .messageRemoved(let removed): [.messages(removed.message.conversation, application)]
        case .messageHidden(let hidden): [.messages(hidden.conversation, application)]
        case .receiptsRecorded(let receipts): [.messages(receipts.conversation, application)]
        case .partsChanged(let change): [.messages(change.conversation, application)]
        case .identityNamed(let identity): [.user(identity.userID, application)]
        case .identityTold(let identity): [.user(identity.userID, application)]
        case .identityPatched(let change): [.user(change.user, application)]
        case .identityDeleted(let user): [.user(user, application)]
        case .userSuspended(let user, _, _): [.user(user, application)]
        case .recordImported(let record): record.changes(in: application)
        case .applicationCreated, .applicationSuspended, .tokenCreated, .tokenRevoked,
            .contentUploaded, .contentWithdrawn, .contentOwned, .blocksChanged, .announcementSent,
            .announcementReceived, .announcementDeleted, .notificationSent, .followingChanged,
            .badgeSet, .sessionsEnded, .sessionLifetimeSet, .exportKeyChanged, .exportRequested,
            .exportStarted, .exportCompleted, .exportDeleted, .exportExpired, .exportErased,
            .exportScheduleChanged, .contentsErased, .webhookCreated, .webhookUpdated,
            .webhookSecretRotated, .webhookDeleted:
            []
        }
    }
}

extension MovedRecord {
    /// A message that comes may stand before others and count for all of them.
    fileprivate func changes(in application: Application.ID) -> [ChangeSubject] {
        switch self {
        case .user(let moved): [.user(moved.user.id, application)]
        case .conversation(let moved): [.messages(moved.conversation.id, application)]
        case .message(let moved): [.messages(moved.message.conversation, application)]
        case .application, .relations, .content, .scheduled, .announcement, .key: []
        }
    }
}
