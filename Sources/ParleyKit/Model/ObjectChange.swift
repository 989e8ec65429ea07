public import FoundationEssentials

/// A change of an object on this device, by the user or from the server.
public struct ObjectChange: Hashable, Sendable {
    /// What has happened.
    public enum Kind: Hashable, Sendable {
        /// It is new on this device.
        case created
        /// A property has another value, such as `isUnread`, `participants` or `metadata.board.color`.
        case updated(property: String)
        /// It no longer exists for the user.
        case deleted
        /// It was merged into the object of the change; its former id still finds that one.
        case renamed(from: ObjectID)
        /// More changes than a slow reader takes were dropped: read again what is shown.
        case resynchronize
    }

    /// The object; for ``Kind/resynchronize`` any.
    public let object: ObjectID
    /// What has happened.
    public let kind: Kind
    /// The value of an updated property before the change; `nil` if there was none, and for `delivery`, `parts`,
    /// `recipientStatus` and `identity`, whose values are read with the object.
    public let before: PropertyValue?
    /// The value of an updated property after the change; `nil` as for ``before``.
    public let after: PropertyValue?

    init(
        object: ObjectID, kind: Kind, before: PropertyValue? = nil, after: PropertyValue? = nil
    ) {
        self.object = object
        self.kind = kind
        self.before = before
        self.after = after
    }
}

/// The value of a property in a change.
public enum PropertyValue: Hashable, Sendable {
    /// A text of the metadata.
    case text(String)
    /// A count or a position.
    case number(Int64)
    /// A yes or no.
    case flag(Bool)
    /// A time.
    case time(Date)
    /// The participants of a conversation, in their order.
    case users([UserID])
    /// The last message of a conversation.
    case message(Message.ID)
    /// Where the bytes of a part are.
    case transferStatus(TransferStatus)
}

/// A command that the server has refused; its effect is undone on this device.
public struct OperationFailure: Hashable, Sendable {
    /// The object that the command would have changed.
    public let object: ObjectID
    /// Why.
    public let error: ParleyError
}

/// The connection of a client to its server.
public enum ConnectionState: Hashable, Sendable {
    /// ``ParleyClient/connect()`` was not called, or ``ParleyClient/disconnect()`` was.
    case idle
    /// It connects, for the nth time in turn.
    case connecting(attempt: Int)
    /// It receives what has changed meanwhile.
    case catchingUp
    /// It has everything, and receives each change.
    case live
    /// The last attempt has failed; the next one follows at this time, or at ``ParleyClient/kick()``.
    case waiting(until: Date, ParleyError)
    /// The server wants a new identity token, and none could be had.
    case unauthenticated(ParleyError)

    /// The state for diagnostics, without the texts of errors.
    var name: String {
        switch self {
        case .idle: "idle"
        case .connecting: "connecting"
        case .catchingUp: "catching_up"
        case .live: "live"
        case .waiting(_, let error): "waiting after \(error.code.rawValue)"
        case .unauthenticated(let error): "unauthenticated after \(error.code.rawValue)"
        }
    }
}

/// What another user does at the moment; never stored.
public enum Signal: Hashable, Sendable {
    /// A user types in a conversation, pauses, or has finished.
    case typing(TypingAction, by: UserID, in: Conversation.ID)
    /// The presence of a followed user.
    case presence(PresenceStatus, of: UserID)
}

/// What a user does in the text field of a conversation.
public enum TypingAction: String, Codable, Sendable {
    case started, paused, finished
}

/// Whether a user is at their device.
public enum PresenceStatus: String, Codable, Sendable {
    case available, away, offline, busy, invisible
}
