/// A content whose bytes are complete, checked, published and durable.
public struct FinishedUpload: Sendable, Equatable {
    /// The content.
    public let contentID: String
    /// For whom it was created.
    public let owner: UploadOwner
    /// Validated media type.
    public let mediaType: String
    /// Size, in bytes; authoritative.
    public let size: Int64
    /// Cleaned file name, where one was given.
    public let fileName: String?
    /// SHA-256 of the whole content, 32 bytes.
    public let sha256: [UInt8]
    /// CRC-32C of the whole content.
    public let crc32c: UInt32
    /// MD5 of the whole content, 16 bytes, where it was computed.
    public let md5: [UInt8]?
    /// SHA-512 of the whole content, 64 bytes, where it was declared.
    public let sha512: [UInt8]?
    /// When the last byte was durable and checked, in milliseconds since 1970 UTC.
    public let completedAtMilliseconds: Int64
    /// The one origin whose pages may use the URLs.
    public let origin: String?
}
