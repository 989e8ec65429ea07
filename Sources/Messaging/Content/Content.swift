/// A file that has been uploaded completely (R24); before that there is no content, only an upload.
public struct Content: Equatable, Sendable {
    /// Names one content.
    public typealias ID = Identifier<Content>

    /// Its name.
    public let id: ID
    /// The conversation whose messages may attach it; `nil` until a message does (rulings 18).
    public var conversation: Conversation.ID?
    /// Its media type as declared.
    public let mimeType: String
    /// Its size in bytes as stored, which wins over what a message says (extensions, precedence 1).
    public let size: Int64
    /// The name its uploader gave it.
    public let fileName: String?
    /// SHA-256, 32 bytes.
    public let sha256: [UInt8]
    /// CRC-32C.
    public let crc32c: UInt32
    /// MD5, 16 bytes, when the uploader asked for one.
    public let md5: [UInt8]?
    /// SHA-512, 64 bytes, when the uploader stated it.
    public let sha512: [UInt8]?
    /// When its last byte was stored.
    public let completedAt: Timestamp
    /// The web origin that gets CORS headers.
    public let origin: String?

    /// A content as stored.
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

/// How far content has come (X7).
public enum TransferStatus: String, CaseIterable, Sendable {
    /// No byte has come yet.
    case awaitingUpload = "awaiting_upload"
    /// Bytes have come, but not all, or they are not checked yet.
    case uploading
    /// It is complete and can be downloaded.
    case ready
    /// It will never be complete.
    case failed
    /// Its upload took too long.
    case expired
}
