/// Uploaded bytes that parts of messages may attach; they become a content when the upload is complete (R24).
public struct Content: Equatable, Sendable {
    /// The id of a content.
    public typealias ID = Identifier<Content>

    /// Its id.
    public let id: ID
    /// The conversation whose messages may attach it; `nil` until a message does (ruling 18).
    public var conversation: Conversation.ID?
    /// The declared media type.
    public let mimeType: String
    /// The stored size in bytes, which takes precedence over the size in a message (extensions, precedence
    /// 1).
    public let size: Int64
    /// The file name that the uploader gave.
    public let fileName: String?
    /// The SHA-256 of the bytes, 32 bytes.
    public let sha256: [UInt8]
    /// The CRC-32C of the bytes.
    public let crc32c: UInt32
    /// The MD5 of the bytes, 16 bytes, if the uploader requested it.
    public let md5: [UInt8]?
    /// The SHA-512 of the bytes, 64 bytes, if the uploader sent it.
    public let sha512: [UInt8]?
    /// The moment when the last byte was stored.
    public let completedAt: Timestamp
    /// The web origin whose pages may download the content; `nil` for none.
    public let origin: String?

    /// All members.
    public init(
        id: ID, conversation: Conversation.ID?, mimeType: String, size: Int64, fileName: String?,
        sha256: [UInt8], crc32c: UInt32, md5: [UInt8]?, sha512: [UInt8]?, completedAt: Timestamp,
        origin: String?
    ) {
        self.id = id
        self.conversation = conversation
        self.mimeType = mimeType
        self.size = size
        self.fileName = fileName
        self.sha256 = sha256
        self.crc32c = crc32c
        self.md5 = md5
        self.sha512 = sha512
        self.completedAt = completedAt
        self.origin = origin
    }
}

/// The state of an upload (X7).
public enum TransferStatus: String, CaseIterable, Sendable {
    /// No byte was received yet.
    case awaitingUpload = "awaiting_upload"
    /// Some bytes were received, or the upload is being verified.
    case uploading
    /// The content is complete and can be downloaded.
    case ready
    /// The upload failed and will not be completed.
    case failed
    /// The upload was not completed in time.
    case expired
}
