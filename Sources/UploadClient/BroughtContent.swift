/// A content that was brought.
public struct BroughtContent: Sendable, Equatable {
    /// `layer:///content/…`.
    public let id: String
    /// Whether the server said that the SHA-256 of what it holds is that of the file; false where it
    /// said none, as behind a proxy that changes or drops `ETag`.
    public let isVerified: Bool
}
