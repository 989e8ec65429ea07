public import Messaging

/// An object of a user's feed as it is now, or that it does not exist for the user any more (Y1).
public enum FeedItem: Equatable, Sendable {
    /// A conversation; `nil` if the user does not see it any more.
    case conversation(Conversation.ID, FeedConversation?)
    /// A message; `nil` if the user does not see it any more.
    case message(Message.ID, MessageSnapshot?)
    /// What a participant of a conversation has received and read, within the user's view.
    case receipts(Conversation.ID, UserID, Receipts)
    /// The identity of a user that the user follows, or of the user; `nil` if the user does not follow them any more.
    case identity(UserID, Identity?)
    /// An announcement; `nil` if the user has deleted it.
    case announcement(Announcement.ID, AnnouncementView?)
}

/// A conversation in a user's feed.
public struct FeedConversation: Equatable, Sendable {
    /// The conversation as the user sees it, without its last message.
    public let view: ConversationView
    /// The visible message with the highest position; `nil` if there is none.
    public let lastMessage: Message.ID?
    /// Its aliases (X1.2), sorted.
    public let aliases: [Conversation.ID]
    /// The highest position of the view, also of a message that is deleted or hidden.
    public let top: Position
    /// The position from which on no message of the view is missing, once the client has everything up to the end of
    /// the answer.
    public let windowFrom: Position
    /// The position up to which the user has deleted all messages from the view (R16); 0 for none.
    public let clearedTo: Position
}

/// A page of a user's feed.
public struct FeedPage: Sendable {
    /// An object with the cursor after it.
    public struct Entry: Equatable, Sendable {
        /// The object.
        public let item: FeedItem
        /// Where a client continues that has received everything up to this object.
        public let cursor: FeedCursor
    }

    /// The objects, by their last change.
    public let entries: [Entry]
    /// Where the next page continues.
    public let cursor: FeedCursor
    /// Whether the next page follows at once.
    public let isCut: Bool
    /// The cursor at which the page begins a snapshot: what the client has and the snapshot does not name does not exist
    /// any more. `nil` if the page begins none.
    public let reset: FeedCursor?
    /// The end of the log that the page was read at.
    public let end: LogPosition

    /// Whether the page begins a snapshot.
    public var isReset: Bool { reset != nil }
}

extension MessagingStore {
    /// A page of a user's feed: objects that have changed after a cursor, each as it is now (Y1).
    ///
    /// Without a cursor, or with one that is unknown to this database or whose changes are deleted, the page begins
    /// a snapshot of all that the user sees.
    ///
    /// - Parameters:
    ///   - cursor: The cursor of the previous page or entry; `nil` for a client that has nothing.
    ///   - history: Which messages are wanted. A snapshot or catch-up keeps to the history that it began with.
    ///   - limit: The maximum number of entries, at least 1.
    ///   - bytes: The approximate maximum size of the entries; a single larger one is still returned.
    /// - Throws: `Rejection.notFound(.user)` for an unknown user.
    public func feed(
        of user: UserID, after cursor: FeedCursor?, history: FeedHistory, limit: Int,
        bytes: Int64 = 4 << 20, in application: Application.ID
    ) async throws -> FeedPage {
        let epoch = try await epoch()
        return try await database.read { transaction in
            try transaction.requireUser(user, in: application)
            var reader = FeedReader(
                of: user, epoch: epoch, limit: limit, bytes: bytes,
                sharing: SharedReads(transaction, in: application))
            return try reader.read(after: cursor, history: history)
        }
    }
}
