/// A multipart upload that was neither completed nor aborted.
public struct OpenMultipart: Sendable, Equatable {
    /// Without the prefix of the store.
    public let key: ObjectKey
    /// The store's name of the upload.
    public let upload: String
    /// When it was created, in milliseconds since 1970; `nil` when the store does not say.
    public let initiated: Int64?
}
