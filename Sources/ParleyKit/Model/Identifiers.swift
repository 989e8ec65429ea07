internal import Messaging
internal import MessagingWire

/// The id of an object of the server: a URI such as `layer:///conversations/{uuid}`.
public protocol ObjectIdentifier: Hashable, Codable, LosslessStringConvertible, Sendable {}

extension ObjectIdentifier {
    /// Reads the URI from a string.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let id = Self(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "no id: \(text)"))
        }
        self = id
    }

    /// Writes the URI as a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Conversation {
    /// The id of a conversation: `layer:///conversations/{uuid}`.
    public struct ID: ObjectIdentifier {
        let value: Messaging.Conversation.ID

        init(_ value: Messaging.Conversation.ID) { self.value = value }

        /// Reads the URI or a bare UUID.
        public init?(_ text: String) {
            guard
                let value: Messaging.Conversation.ID = IdentifierJSON.read(
                    text, in: .conversations)
            else { return nil }
            self.value = value
        }

        /// The URI.
        public var description: String { IdentifierJSON.text(value, in: .conversations) }
    }
}

extension Message {
    /// The id of a message, `layer:///messages/{uuid}`, or of an announcement, `layer:///announcements/{uuid}`.
    public struct ID: ObjectIdentifier {
        let value: Messaging.Message.ID
        let isAnnouncement: Bool

        init(_ value: Messaging.Message.ID, isAnnouncement: Bool = false) {
            self.value = value
            self.isAnnouncement = isAnnouncement
        }

        /// Reads the URI, or the bare UUID of a message.
        public init?(_ text: String) {
            isAnnouncement = text.hasPrefix("layer:///announcements/")
            let collection: IdentifierJSON.Collection = isAnnouncement ? .announcements : .messages
            guard let value: Messaging.Message.ID = IdentifierJSON.read(text, in: collection)
            else { return nil }
            self.value = value
        }

        /// The URI.
        public var description: String {
            IdentifierJSON.text(value, in: isAnnouncement ? .announcements : .messages)
        }
    }
}

extension MessagePart {
    /// The id of a part: `{id of the message}/parts/{uuid}`, for an announcement `…/parts/{index}`.
    public struct ID: ObjectIdentifier {
        /// The message that has the part.
        public let message: Message.ID
        /// The last segment: a UUID, or the index of a part of an announcement.
        let name: String

        init(_ name: String, of message: Message.ID) {
            self.message = message
            self.name = name
        }

        /// Reads the URI.
        public init?(_ text: String) {
            let segments = text.split(separator: "/parts/", omittingEmptySubsequences: false)
            guard segments.count == 2, let message = Message.ID(String(segments[0])),
                !segments[1].isEmpty, !segments[1].contains("/")
            else { return nil }
            self.init(String(segments[1]), of: message)
        }

        /// The URI.
        public var description: String { "\(message)/parts/\(name)" }
    }
}

/// The id of a user, as the application's own backend names it: 1 to 128 Unicode scalars.
///
/// Two ids are equal if their bytes are.
public struct UserID: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The id.
    public let text: String

    /// An id; it is validated when it is used.
    public init(_ text: String) { self.text = text }

    /// An id; it is validated when it is used.
    public init(stringLiteral text: String) { self.text = text }

    init(_ value: Messaging.UserID) { text = value.text }

    /// The id.
    public var description: String { text }

    /// The validated id.
    ///
    /// - Throws: `invalidMessage` for an id that no user can have.
    func validated() throws(ParleyError) -> Messaging.UserID {
        guard let value = Messaging.UserID(text) else {
            throw ParleyError(
                .invalidMessage,
                "The user id \"\(text)\" must have 1 to 128 characters without U+0000, and not be . or .."
            )
        }
        return value
    }
}

extension UserID: Hashable, Comparable, Codable {
    /// Whether the bytes are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Feeds the bytes into a hasher.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// Orders by bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }

    /// Reads a string.
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// The id of any object that a client has.
public enum ObjectID: Hashable, Sendable, CustomStringConvertible {
    /// A conversation.
    case conversation(Conversation.ID)
    /// A message or an announcement.
    case message(Message.ID)
    /// A part of a message.
    case part(MessagePart.ID)
    /// A user's identity.
    case identity(UserID)

    /// The URI of the object; for an identity the user id.
    public var description: String {
        switch self {
        case .conversation(let id): id.description
        case .message(let id): id.description
        case .part(let id): id.description
        case .identity(let user): user.text
        }
    }
}
