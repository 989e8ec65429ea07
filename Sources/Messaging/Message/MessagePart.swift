/// One piece of a message: a media type and either bytes or a content (platform-api 3.4).
public struct MessagePart: Equatable, Sendable {
    /// Names one part.
    public typealias ID = Identifier<MessagePart>

    /// Where the bytes are.
    public enum Body: Equatable, Sendable {
        /// In the message, at most 2048 bytes (R22).
        case inline([UInt8])
        /// In an uploaded content; the size in bytes is the stored one, in a draft the claimed one.
        case content(Content.ID, size: Int64)
    }

    /// Bytes an inline body may have (R22).
    public static let inlineLimit = 2048

    /// Its name.
    public let id: ID
    /// Its creation number within the message, from zero, never given twice.
    public let index: Int
    /// Its media type as given.
    public let mimeType: String
    /// Its bytes.
    public let body: Body
    /// When it was last changed; `nil` since sending.
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

    /// How many bytes it stands for.
    public var size: Int64 {
        switch body {
        case .inline(let bytes): Int64(bytes.count)
        case .content(_, let size): size
        }
    }
}
