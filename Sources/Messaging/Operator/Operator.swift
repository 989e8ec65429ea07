/// An account with which the server is operated in the console.
public struct Operator: Equatable, Sendable {
    /// The name, which identifies it.
    public let name: String
    /// What it may do in all applications and on the server.
    public let role: Token.Scope
    /// Whether it has a password; without one it logs in by a link.
    public let hasPassword: Bool
    /// When it was created.
    public let createdAt: Timestamp

    /// All members.
    public init(name: String, role: Token.Scope, hasPassword: Bool, createdAt: Timestamp) {
        self.name = name
        self.role = role
        self.hasPassword = hasPassword
        self.createdAt = createdAt
    }

    /// The name of the first operator.
    public static let firstName = "admin"

    /// The number of bytes of a password.
    public static let passwordSize = 12...1024

    /// Whether a text is a name: 1 to 64 ASCII letters, digits, and `.`, `_`, `-` and `@`.
    public static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._-@".utf8.contains(byte)
                }
            }
    }
}

/// A login to the console, of an operator or with the token of an application.
public struct ConsoleSession: Equatable, Sendable {
    /// Identifies the session; it is no secret.
    public typealias ID = Identifier<ConsoleSession>

    /// The account that the session acts for.
    public enum Holder: Equatable, Sendable {
        /// An operator.
        case named(String)
        /// The token of an application.
        case token(Token.ID, of: Application.ID)
    }

    /// The id.
    public let id: ID
    /// The account.
    public let holder: Holder
    /// Whether it began with a link, so that a password may be set without the former one.
    public let isByLink: Bool
    /// When it began.
    public let createdAt: Timestamp
    /// When it ends, however much it is used.
    public let expiresAt: Timestamp
    /// When it was last used, to a few minutes.
    public let lastUsedAt: Timestamp
    /// The address that logged in.
    public let address: String
    /// The `User-Agent` that logged in, cut to ``agentLimit``.
    public let agent: String?

    /// All members.
    public init(
        id: ID, holder: Holder, isByLink: Bool, createdAt: Timestamp, expiresAt: Timestamp,
        lastUsedAt: Timestamp, address: String, agent: String?
    ) {
        self.id = id
        self.holder = holder
        self.isByLink = isByLink
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
        self.address = address
        self.agent = agent
    }

    /// The most Unicode scalars of an ``agent``.
    public static let agentLimit = 256
    /// The most sessions of one account; the oldest end.
    public static let limit = 50
}
