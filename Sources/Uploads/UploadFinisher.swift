/// Stores finished uploads in the messaging store.
public protocol UploadFinisher: Sendable {
    /// Stores finished content.
    ///
    /// Called at least once per content, again after a crash, so it must be idempotent.
    ///
    /// - Parameter quota: The maximum size of all content of the application; `nil` for no limit. Checked in the
    ///   same transaction, so of two that end at the same time the second counts the first.
    /// - Throws: ``ContentRefused`` when the content must not exist any more, for instance because its conversation
    ///   was deleted, or ``QuotaExceeded``; the upload then fails. After any other error this is retried.
    func finished(_ upload: FinishedUpload, within quota: Int64?) async throws

    /// Deletes finished content unless a message uses it, in one step.
    ///
    /// - Returns: `false` when a message uses it; its bytes then stay.
    func withdraw(_ contentID: String) async throws -> Bool

    /// Lists unused content whose bytes are to be deleted (§11.8).
    ///
    /// - Parameters:
    ///   - moment: Content that was complete before this time, in milliseconds since 1970 UTC, and is still unused,
    ///     is listed.
    ///   - limit: The maximum number of content to list.
    func abandoned(unusedSince moment: Int64, limit: Int) async throws -> [AbandonedContent]

    /// Records that the bytes of content were deleted, durably; it is not listed again.
    func erased(_ contents: [AbandonedContent]) async throws

    /// The size of all finished content of an application, except one.
    func storedBytes(of application: String, besides contentID: String?) async throws -> Int64
}

/// Unused content whose bytes still exist.
public struct AbandonedContent: Hashable, Sendable {
    /// The application it belonged to.
    public let application: String
    /// The content.
    public let contentID: String

    /// Names content of an application.
    public init(application: String, contentID: String) {
        self.application = application
        self.contentID = contentID
    }
}

/// Thrown when content exceeds the quota of its application.
public struct QuotaExceeded: Error, Sendable {
    /// Makes the error.
    public init() {}
}

/// Thrown when content must not exist.
public struct ContentRefused: Error, Sendable {
    /// Makes the error.
    public init() {}
}

/// Content whose bytes are complete, checked, published and durable.
public struct FinishedUpload: Sendable, Equatable {
    /// The content id.
    public let contentID: String
    /// The owner of the upload.
    public let owner: UploadOwner
    /// What downloads will need; it has the MD5 if that was computed, and the SHA-512 if that was declared.
    public let content: StoredContent
}
