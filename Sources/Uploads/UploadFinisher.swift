/// Who is told of finished uploads: the roof bridges to the store of messages.
public protocol UploadFinisher: Sendable {
    /// Remembers a finished content.
    ///
    /// Called at least once per content, again after a crash, so it must be idempotent.
    ///
    /// - Parameter quota: Most bytes of all contents of its application; `nil` for no bound. Judged
    ///   in one step with remembering, so of two that end at once the second counts the first.
    /// - Throws: ``ContentRefused`` when the content may not exist any more, for instance because
    ///   its conversation is gone, or ``QuotaExceeded``; the upload then fails. Any other error is
    ///   tried again later.
    func finished(_ upload: FinishedUpload, within quota: Int64?) async throws

    /// Forgets a finished content unless a message uses it, in one step.
    ///
    /// - Returns: `false` when a message uses it; its bytes then stay.
    func withdraw(_ contentID: String) async throws -> Bool

    /// Names contents nobody needs, whose bytes are to be deleted (§11.8).
    ///
    /// - Parameters:
    ///   - moment: Whoever was complete before it, in milliseconds since 1970 UTC, and is not used yet
    ///     is not needed.
    ///   - limit: Most contents to name.
    func abandoned(unusedSince moment: Int64, limit: Int) async throws -> [AbandonedContent]

    /// Hears that the bytes of contents are gone, durably; they are not named again.
    func erased(_ contents: [AbandonedContent]) async throws

    /// Bytes of all finished contents of an application, but for one that is named.
    func storedBytes(of application: String, besides contentID: String?) async throws -> Int64
}

/// A content nobody needs any more, while its bytes are still there.
public struct AbandonedContent: Hashable, Sendable {
    /// The application it belonged to.
    public let application: String
    /// The content.
    public let contentID: String

    /// Names one.
    public init(application: String, contentID: String) {
        self.application = application
        self.contentID = contentID
    }
}

/// The finisher's word that a content is more than its application may still hold.
public struct QuotaExceeded: Error, Sendable {
    /// Says no.
    public init() {}
}

/// The finisher's word that a content may not exist.
public struct ContentRefused: Error, Sendable {
    /// Says no.
    public init() {}
}

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
