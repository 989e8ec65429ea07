/// An application was created; the first event of its log.
public struct ApplicationCreated: EventPayload {
    /// The application.
    public let application: Application

    /// All members.
    public init(application: Application) {
        self.application = application
    }

    /// The type of the event.
    public var type: EventType { .applicationCreated }
}

/// An application got another name.
public struct ApplicationRenamed: EventPayload {
    /// The application.
    public let application: Application.ID
    /// The new name.
    public let name: String

    /// All members.
    public init(application: Application.ID, name: String) {
        self.application = application
        self.name = name
    }

    /// The type of the event.
    public var type: EventType { .applicationRenamed }
}

/// An application was suspended or resumed.
public struct ApplicationSuspended: EventPayload {
    /// The application.
    public let application: Application.ID
    /// Whether it is suspended now.
    public let isSuspended: Bool

    /// All members.
    public init(application: Application.ID, isSuspended: Bool) {
        self.application = application
        self.isSuspended = isSuspended
    }

    /// The type of the event.
    public var type: EventType { .applicationSuspended }
}

/// A token was created.
public struct TokenCreated: EventPayload {
    /// The token, without its secret.
    public let token: Token
    /// The SHA-256 digest of the secret.
    public let digest: [UInt8]

    /// All members.
    public init(token: Token, digest: [UInt8]) {
        self.token = token
        self.digest = digest
    }

    /// The type of the event.
    public var type: EventType { .tokenCreated }
}

/// A token was revoked.
public struct TokenRevoked: EventPayload {
    /// The token.
    public let token: Token.ID
    /// The moment of the change.
    public let at: Timestamp

    /// All members.
    public init(token: Token.ID, at: Timestamp) {
        self.token = token
        self.at = at
    }

    /// The type of the event.
    public var type: EventType { .tokenRevoked }
}

/// The lifetime of new sessions was set.
public struct SessionLifetimeSet: EventPayload {
    /// The lifetime in seconds.
    public let seconds: Int64

    /// All members.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The type of the event.
    public var type: EventType { .sessionLifetimeSet }
}
