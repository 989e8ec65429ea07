public import Messaging

/// A new token, with its secret for the only time.
public struct CreatedToken: Equatable, Sendable {
    /// The token.
    public let token: Token
    /// What its holder sends; the store keeps only its SHA-256.
    public let secret: String
}
