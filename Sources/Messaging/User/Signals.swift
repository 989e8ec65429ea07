/// Whether a user can be reached, as the user has chosen it (client-api §5.8).
public enum PresenceStatus: String, CaseIterable, Sendable {
    case available, busy, away, offline
    /// Connected, and shown to others as offline.
    case invisible

    /// The status that others see.
    public var shown: PresenceStatus { self == .invisible ? .offline : self }
}

/// The presence of a user as others see it.
public struct Presence: Equatable, Sendable {
    /// The user.
    public let user: UserID
    /// The status.
    public let status: PresenceStatus
    /// When the user was last connected; `nil` if that is not known.
    public let lastSeenAt: Timestamp?

    /// All members.
    public init(user: UserID, status: PresenceStatus, lastSeenAt: Timestamp?) {
        self.user = user
        self.status = status
        self.lastSeenAt = lastSeenAt
    }
}

/// What a user does with the input of a conversation (client-api §5.7).
public enum TypingAction: String, CaseIterable, Sendable {
    case started, paused, finished

    /// The action that follows when the user does nothing; `nil` after the last one.
    public var next: TypingAction? {
        switch self {
        case .started: .paused
        case .paused: .finished
        case .finished: nil
        }
    }
}

/// A typing or presence notification, which is sent to users at once and never stored (client-api §5.7, §5.8).
public enum Signal: Equatable, Sendable {
    /// A participant of a conversation types.
    case typing(TypingAction, by: BasicIdentity, in: Conversation.ID)
    /// The presence of a followed user has changed.
    case presence(Presence)
}
