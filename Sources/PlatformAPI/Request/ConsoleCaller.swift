public import Messaging
public import MessagingStore

/// A caller that the console has authenticated by the cookie of its session.
public enum ConsoleCaller: Sendable {
    /// An operator, who may use every application.
    case named(ConsoleAccount)
    /// A token of one application.
    case token(Grant)
}

/// An operator as a caller of the Platform API.
public struct ConsoleAccount: Sendable {
    /// The name, which the event log shows after `console:`.
    public let name: String
    /// The scope of what the operator may do.
    public let role: Token.Scope
    /// The session of the console.
    public let session: ConsoleSession.ID
    /// When the session ends.
    public let expiresAt: Timestamp

    /// All members.
    public init(
        name: String, role: Token.Scope, session: ConsoleSession.ID, expiresAt: Timestamp
    ) {
        self.name = name
        self.role = role
        self.session = session
        self.expiresAt = expiresAt
    }
}

/// How the console reaches the Platform API.
public struct ConsoleAccess: Sendable {
    /// Authenticates the request; throws the error of the answer.
    let caller: @Sendable () async throws -> ConsoleCaller
    /// Whether answers must not show the contents of messages.
    let hidesContent: Bool

    /// Both members.
    public init(
        hidesContent: Bool, caller: @escaping @Sendable () async throws -> ConsoleCaller
    ) {
        self.hidesContent = hidesContent
        self.caller = caller
    }
}
