/// An object that the store lists.
public struct StoredKey: Sendable, Equatable {
    /// Without the store's prefix.
    public let key: ObjectKey
    /// When it was stored, in milliseconds since 1970 UTC by the store's clock.
    public let modified: Int64?
    /// In bytes.
    public let size: Int64
}
