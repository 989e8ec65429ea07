public import FoundationEssentials

/// A message of a conversation, or an announcement.
public struct Message: Queryable, Hashable {
    /// The id.
    public let id: ID
    /// The conversation; `nil` for an announcement.
    public let conversation: Conversation.ID?
    /// The place in the conversation: 1, 2, 3 …; `nil` for an announcement and before the server has it.
    public let position: Int64?
    /// The sender.
    public let sender: Sender
    /// The parts, in their order.
    public let parts: [MessagePart]
    /// When the server received it; before, when it was sent on this device.
    public let sentAt: Date?
    /// When it reached the user.
    public let receivedAt: Date?
    /// Whether the user has still to read it; always false for own messages.
    public let isUnread: Bool
    /// Where an own message is on its way.
    public let delivery: Delivery
    /// What each recipient has received and read.
    public let recipientStatus: [UserID: RecipientStatus]

    /// Whether the server has the message.
    public var isSent: Bool { delivery == .sent }

    /// What a user has received and read: `pending` for an unsent message, `invalid` for a user that is no recipient.
    public func status(of user: UserID) -> RecipientStatus { recipientStatus[user] ?? .invalid }
}

/// The sender of a message.
public enum Sender: Hashable, Sendable {
    /// A user.
    case user(Identity)
    /// A service that has only a name.
    case service(String)

    /// The id of the user; `nil` for a service.
    public var userID: UserID? {
        if case .user(let identity) = self { identity.id } else { nil }
    }

    /// The name to show.
    public var displayName: String? {
        switch self {
        case .user(let identity): identity.displayName
        case .service(let name): name
        }
    }
}

/// Where an own message is on its way.
public enum Delivery: Hashable, Sendable {
    /// It waits for a connection, or for earlier changes of the conversation.
    case queued
    /// The bytes of its parts are on their way.
    case uploading
    /// The request is on its way.
    case sending
    /// An earlier message has failed; this one follows when that is sent again or discarded.
    case blocked(by: Message.ID)
    /// The server has refused it; send it again with ``ParleyClient/retry(_:)``, or discard it.
    case failed(ParleyError)
    /// The server has it.
    case sent
}

/// What a recipient has received and read. A status is never lowered.
public enum RecipientStatus: Int, Comparable, Codable, Sendable {
    /// The user is no recipient.
    case invalid = -1
    /// The message is not sent yet.
    case pending
    /// The server has the message.
    case sent
    /// A device of the recipient has it.
    case delivered
    /// The recipient has read it.
    case read

    /// The earlier status comes first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A part of a message.
public struct MessagePart: Queryable, Hashable {
    /// The id.
    public let id: ID
    /// The message.
    public var message: Message.ID { id.message }
    /// The place in the message: 0, 1, 2 …
    public let index: Int
    /// The MIME type, such as `text/plain`.
    public let mimeType: String
    /// The size in bytes.
    public let size: Int64
    /// The bytes, if they are in the message itself.
    public let inline: Data?
    /// Where the bytes are.
    public let transferStatus: TransferStatus

    /// The text of an inline part whose type is `text/…`; `nil` for others, and for bytes that are no UTF-8.
    public var text: String? {
        guard let inline, mimeType.lowercased().hasPrefix("text/") else { return nil }
        return String(validating: inline, as: UTF8.self)
    }
}

/// Where the bytes of a part are. The raw values are those of LayerKit.
public enum TransferStatus: Int, Comparable, Codable, Sendable {
    /// They wait to be uploaded.
    case awaitingUpload
    /// They are being uploaded.
    case uploading
    /// The server has them, this device has not.
    case readyForDownload
    /// They are being downloaded.
    case downloading
    /// They are on this device.
    case complete

    /// The earlier status comes first.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A part of a message to send.
///
/// Up to 2,048 bytes are sent in the message itself. More bytes are uploaded, and the message follows when the server has
/// them.
public struct PartDraft: Sendable {
    /// The most bytes that the parts of a message have together: 2 GiB.
    static let sizeLimit: Int64 = 1 << 31

    let mimeType: String
    let source: Source

    /// Where the bytes are.
    enum Source: Sendable {
        case data(Data)
        case file(path: String, keepsOriginal: Bool)
        case stream(@Sendable () async throws -> [UInt8]?)
    }

    /// A text of type `text/plain`.
    public static func text(_ text: String) -> PartDraft {
        PartDraft(mimeType: "text/plain", source: .data(Data(text.utf8)))
    }

    /// Bytes of a MIME type.
    public static func data(_ bytes: Data, mimeType: String) -> PartDraft {
        PartDraft(mimeType: mimeType, source: .data(bytes))
    }

    /// The bytes of a file. The client has its own copy when ``ParleyClient/send(_:to:_:)`` returns; on file systems that can
    /// share blocks the copy needs no space.
    ///
    /// - Parameter keepsOriginal: Whether the file stays; if not, the client takes it over without a copy.
    public static func file(
        _ url: URL, mimeType: String, keepsOriginal: Bool = true
    ) -> PartDraft {
        PartDraft(mimeType: mimeType, source: .file(path: url.path, keepsOriginal: keepsOriginal))
    }

    /// The bytes of a stream, which is read to its end before ``ParleyClient/send(_:to:_:)`` returns.
    ///
    /// - Parameter next: Returns the next bytes; `nil` at the end.
    public static func stream(
        _ next: @escaping @Sendable () async throws -> [UInt8]?, mimeType: String
    ) -> PartDraft {
        PartDraft(mimeType: mimeType, source: .stream(next))
    }
}

/// The options of a message.
public struct MessageOptions: Sendable {
    /// The id; `nil` for a new one.
    public var id: Message.ID?
    /// Whether later messages may be sent while the parts of this one are uploaded.
    public var mayBeOvertaken: Bool
    /// What the push notification of the message says; `nil` leaves it to the server.
    public var push: PushOptions?

    /// Options.
    public init(id: Message.ID? = nil, mayBeOvertaken: Bool = false, push: PushOptions? = nil) {
        self.id = id
        self.mayBeOvertaken = mayBeOvertaken
        self.push = push
    }
}
