public import FoundationEssentials
public import Logging

/// How a client reaches its server, and where it stores what it knows.
public struct Configuration: Sendable {
    /// The base URL of the server, such as `https://chat.example.com`.
    public var server: URL
    /// The id of the application: a UUID, or `layer:///apps/production/{uuid}`.
    public var application: String
    /// A folder for the store of one user; it is created if it does not exist.
    public var store: URL
    /// How many messages of a conversation are received when it is seen first.
    public var history = History.unread
    /// Whether the server is told which messages have reached this device.
    public var reportsDelivery = true
    /// Receives what the client logs; never message bodies, tokens or signed URLs.
    public var logger = Logger(label: "parley.kit")
    let credentials: Credentials

    enum Credentials: Sendable {
        case identityToken(@Sendable (_ nonce: String) async throws -> String)
        case development(UserID)
        case session(String, UserID)
    }

    /// A client of a user that the application's own backend authenticates.
    ///
    /// - Parameter identityToken: Requests an identity token with a nonce from the application's backend. It is called
    ///   whenever a session is needed, never twice at the same time.
    public init(
        server: URL, application: String, store: URL,
        identityToken: @escaping @Sendable (_ nonce: String) async throws -> String
    ) {
        self.init(server, application, store, .identityToken(identityToken))
    }

    /// A client of any user of a development server, which runs with `api.dev_login` and needs no identity tokens.
    public init(server: URL, application: String, store: URL, developmentUser user: UserID) {
        self.init(server, application, store, .development(user))
    }

    /// A client with a session that was begun elsewhere. When the server ends it, the client needs another one.
    public init(
        server: URL, application: String, store: URL, sessionToken: String, of user: UserID
    ) {
        self.init(server, application, store, .session(sessionToken, user))
    }

    private init(_ server: URL, _ application: String, _ store: URL, _ credentials: Credentials) {
        self.server = server
        self.application = application
        self.store = store
        self.credentials = credentials
    }
}

/// How many messages of a conversation a client receives when it sees it first, and of those sent while it was away.
public enum History: Hashable, Sendable {
    /// Those from the first unread one on.
    case unread
    /// All.
    case all
    /// The newest ones, at most this many.
    case newest(Int)

    /// The value of the query parameter `history`.
    var parameter: String {
        switch self {
        case .unread: "unread"
        case .all: "all"
        case .newest(let number): String(max(0, number))
        }
    }
}
