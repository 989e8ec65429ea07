/// Who is told of finished uploads: the roof bridges to the store of messages.
public protocol UploadFinisher: Sendable {
    /// Remembers a finished content.
    ///
    /// Called at least once per content, again after a crash, so it must be idempotent.
    ///
    /// - Throws: ``ContentRefused`` when the content may not exist any more, for instance because
    ///   its conversation is gone; the upload then fails. Any other error is tried again later.
    func finished(_ upload: FinishedUpload) async throws

    /// Forgets a finished content unless a message uses it, in one step.
    ///
    /// - Returns: `false` when a message uses it; its bytes then stay.
    func withdraw(_ contentID: String) async throws -> Bool
}

/// The finisher's word that a content may not exist.
public struct ContentRefused: Error, Sendable {
    /// Says no.
    public init() {}
}
