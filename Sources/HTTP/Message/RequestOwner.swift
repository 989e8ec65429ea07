/// On whose account a request was made, for logs (H206): ids only, never a credential.
public struct RequestOwner: Equatable, Sendable {
    /// The id of the application.
    public let application: String
    /// The id of the token.
    public let token: String

    /// Takes both ids.
    public init(application: String, token: String) {
        self.application = application
        self.token = token
    }
}
