/// An upload was completed.
public struct ContentUploaded: EventPayload {
    /// The content.
    public let content: Content

    /// All members.
    public init(content: Content) {
        self.content = content
    }

    /// The type of the event.
    public var type: EventType { .contentUploaded }

    /// The conversation whose messages may attach it, if it is known already.
    public var namedConversations: [Conversation.ID] {
        content.conversation.map { id in [id] } ?? []
    }
}

/// A content got an owner: the user that it was uploaded for (R86).
public struct ContentOwned: EventPayload {
    /// The content.
    public let content: Content.ID
    /// The user.
    public let owner: UserID

    /// All members.
    public init(content: Content.ID, owner: UserID) {
        self.content = content
        self.owner = owner
    }

    /// The type of the event.
    public var type: EventType { .contentOwned }

    /// The author of the change.
    public var author: EventActor? { .user(owner) }
}

/// A content was withdrawn, which is possible until a message attaches it.
public struct ContentWithdrawn: EventPayload {
    /// The content.
    public let content: Content.ID

    /// All members.
    public init(content: Content.ID) {
        self.content = content
    }

    /// The type of the event.
    public var type: EventType { .contentWithdrawn }
}

/// The bytes of deleted contents were erased.
public struct ContentsErased: EventPayload {
    /// The contents.
    public let contents: [Content.ID]

    /// All members.
    public init(contents: [Content.ID]) {
        self.contents = contents
    }

    /// The type of the event.
    public var type: EventType { .contentsErased }
}
