/// A part of a message: a media type, and either bytes or a content (platform-api §3.4).
public struct MessagePart: Equatable, Sendable {
    /// The id of a part.
    public typealias ID = Identifier<MessagePart>

    /// The bytes of a part, or the content that has them.
    public enum Body: Equatable, Sendable {
        /// In the message, at most 2048 bytes (R22).
        case inline([UInt8])
        /// In an uploaded content, with its size in bytes: in a draft the size that the client states, else the stored
        /// one.
        case content(Content.ID, size: Int64)
    }

    /// The maximum number of bytes of an inline body (R22).
    public static let inlineLimit = 2048

    /// Its id.
    public let id: ID
    /// Its creation number within the message, from 0; never reused.
    public let index: Int
    /// Its media type as given.
    public let mimeType: String
    /// Its bytes, or the content that has them.
    public let body: Body
    /// The moment of the last change; `nil` for none.
    public let updatedAt: Timestamp?

    /// A part as stored.
    public init(
        id: ID, index: Int, mimeType: String, body: Body, updatedAt: Timestamp? = nil
    ) {
        self.id = id
        self.index = index
        self.mimeType = mimeType
        self.body = body
        self.updatedAt = updatedAt
    }

    /// The number of bytes, inline or of the content.
    public var size: Int64 {
        switch body {
        case .inline(let bytes): Int64(bytes.count)
        case .content(_, let size): size
        }
    }
}

extension MessagePart {
    /// The id or index by which a caller names a part (platform-api §1.3, §5.3).
    public enum Name: Equatable, Sendable {
        case id(MessagePart.ID)
        /// Its creation number.
        case index(Int)

        /// Whether it names that part.
        func names(_ part: MessagePart) -> Bool {
            switch self {
            case .id(let id): part.id == id
            case .index(let index): part.index == index
            }
        }
    }
}

extension MessagePart {
    /// A validated part to send; only checks that need the store remain.
    public struct Draft: Equatable, Sendable {
        /// Its media type.
        public let mimeType: String
        /// Its bytes, or the attached content with the size that the client states.
        public let body: MessagePart.Body
        /// The id that the caller proposes (3.0).
        public let proposedID: MessagePart.ID?

        /// Validates a part.
        ///
        /// - Throws: `invalid("parts.mime_type")` unless the type has text on both sides of a `/` and no U+0000 (R21);
        ///   `invalid("parts.body")` for an inline body above 2048 bytes (R22).
        public init(
            mimeType: String, body: MessagePart.Body, proposedID: MessagePart.ID? = nil
        ) throws(Rejection) {
            let halves = mimeType.utf8.split(
                separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, halves.allSatisfy({ half in !half.isEmpty }),
                mimeType.isStorable
            else {
                throw .invalid("parts.mime_type", .partType)
            }
            if case .inline(let bytes) = body, bytes.count > MessagePart.inlineLimit {
                throw .invalid("parts.body", .partBodySize, .init(amount: bytes.count))
            }
            self.mimeType = mimeType
            self.body = body
            self.proposedID = proposedID
        }

        /// Returns the body to store; a content has its stored size, which takes precedence over the one that the
        /// client states (extensions, precedence 1).
        ///
        /// - Parameter contents: The contents that may be attached to messages of the conversation (R24, ruling 47).
        /// - Throws: `invalid("parts.content")` for any other content.
        func body(from contents: [Content.ID: Content]) throws(Rejection) -> MessagePart.Body {
            guard case .content(let id, _) = body else { return body }
            guard let content = contents[id] else {
                throw .invalid("parts.content", .partContentUnknown)
            }
            return .content(id, size: content.size)
        }
    }
}

extension MessagePart {
    /// The approximate number of bytes of the part in a response: its body, type, ids and URLs.
    public var weight: Int64 {
        let bodySize: Int64 =
            switch body {
            case .inline(let bytes): Int64(bytes.count)
            case .content: 0
            }
        return bodySize + Int64(mimeType.unicodeScalars.count) + Self.frame
    }

    /// The approximate number of bytes that a part needs in a response besides its body and type.
    public static let frame: Int64 = 256
}

extension Message {
    /// The approximate number of bytes of the message in a response: those of its parts.
    public var weight: Int64 { parts.reduce(0) { sum, part in sum + part.weight } }
}
