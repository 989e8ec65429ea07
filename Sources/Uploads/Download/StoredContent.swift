/// The properties of complete content that downloads need.
public struct StoredContent: Sendable, Equatable {
    /// The declared media type; never detected from the bytes.
    public let mediaType: String
    /// Size, in bytes.
    public let size: Int64
    /// SHA-256 of the content, 32 bytes; the entity tag contains it.
    public let sha256: [UInt8]
    /// MD5 of the content, 16 bytes, where it is known.
    public let md5: [UInt8]?
    /// SHA-512 of the content, 64 bytes, where it is known.
    public let sha512: [UInt8]?
    /// CRC-32C of the content.
    public let crc32c: UInt32
    /// The file name for saving, where one was given.
    public let fileName: String?
    /// When the content became complete, in milliseconds since 1970 UTC.
    public let completedAtMilliseconds: Int64
    /// The one origin whose pages may read it.
    public let origin: String?

    /// The names of the file, where it is an archive.
    public let archive: ArchiveFile?

    /// Describes stored content; `archive` is `nil` for content that is not encrypted.
    public init(
        mediaType: String, size: Int64, sha256: [UInt8], md5: [UInt8]?, sha512: [UInt8]?,
        crc32c: UInt32, fileName: String?, completedAtMilliseconds: Int64, origin: String?,
        archive: ArchiveFile? = nil
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

/// Looks up complete content, in the messaging store.
public protocol DownloadCatalog: Sendable {
    /// The content of that id (a UUID in lower case); `nil` when it is unknown or incomplete.
    func content(_ id: String) async throws -> StoredContent?
}
