/// A complete content, as the download resource needs to know it.
public struct StoredContent: Sendable, Equatable {
    /// Declared media type; served as it is, never sniffed.
    public let mediaType: String
    /// Size, in bytes.
    public let size: Int64
    /// SHA-256 of the content, 32 bytes; the entity tag is made of it.
    public let sha256: [UInt8]
    /// MD5 of the content, 16 bytes, where it is known.
    public let md5: [UInt8]?
    /// SHA-512 of the content, 64 bytes, where it is known.
    public let sha512: [UInt8]?
    /// CRC-32C of the content.
    public let crc32c: UInt32
    /// Name for saving, where one was given.
    public let fileName: String?
    /// When it became complete, in milliseconds since 1970 UTC.
    public let completedAtMilliseconds: Int64
    /// The one origin whose pages may read it.
    public let origin: String?

    /// What its bytes are called, where it is an archive.
    public let archive: Archive?

    /// Describes a content.
    public init(
        mediaType: String, size: Int64, sha256: [UInt8], md5: [UInt8]?, sha512: [UInt8]?,
        crc32c: UInt32, fileName: String?, completedAtMilliseconds: Int64, origin: String?,
        archive: Archive? = nil
    ) {
        self.mediaType = mediaType
        self.size = size
        self.sha256 = sha256
        self.md5 = md5
        self.sha512 = sha512
        self.crc32c = crc32c
        self.fileName = fileName
        self.completedAtMilliseconds = completedAtMilliseconds
        self.origin = origin
        self.archive = archive
    }
}

/// Who knows the complete contents: the store of messages, by way of the roof.
public protocol DownloadCatalog: Sendable {
    /// The content of that id (a UUID in lower case); `nil` when it is not complete or not there.
    func content(_ id: String) async throws -> StoredContent?
}
