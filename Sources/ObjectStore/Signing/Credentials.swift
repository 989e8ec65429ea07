/// Who asks the store: an access key of Amazon's kind, with a token when it is good for a session only.
public struct Credentials: Sendable {
    /// The public half, which stands in every request.
    public let accessKey: String
    let secretKey: String
    let sessionToken: String?

    /// Makes them; ``ObjectStoreSettings/mistakes()`` says what is wrong with them.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the secret, which belongs in no log.
    public var description: String { "access key \(accessKey)" }

    /// The same.
    public var debugDescription: String { description }
}
