public import Messaging

/// What a valid token opens.
public struct Grant: Equatable, Sendable {
    /// The only application it opens; look whether it is suspended.
    public let application: Application
    /// The token itself.
    public let token: Token

    /// What a token opens.
    public init(application: Application, token: Token) {
        self.application = application
        self.token = token
    }
}
