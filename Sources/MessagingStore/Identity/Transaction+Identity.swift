import Messaging
import SQL

extension Transaction {
    /// What is known of users.
    ///
    /// - Returns: By user; who is missing was never named.
    func identities(
        of users: Set<UserID>, in application: Application.ID
    ) throws -> [UserID: BasicIdentity] {
        guard !users.isEmpty else { return [:] }
        let found = try rows(
            """
            SELECT \(raw: BasicIdentity.columns) FROM identities i
            WHERE i.application = \(application)
                AND i.user_id IN (\(few: users.map(\.text)))
            """
        ) { row in try BasicIdentity(row) }
        return Dictionary(grouping: found, by: \.userID).compactMapValues(\.first)
    }

    /// What is known of one user; nothing when he was never named.
    func askIdentity(
        of user: UserID, in application: Application.ID
    ) throws -> DeferredRows<BasicIdentity> {
        try ask(
            """
            SELECT \(raw: BasicIdentity.columns) FROM identities i
            WHERE i.application = \(application) AND i.user_id = \(user)
            """,
            as: RowCacheKey(of: application.bytes + Array(user.text.utf8), in: "identities")
        ) { row in try BasicIdentity(row) }
    }

    /// Reads on behalf of a user want one whom somebody has named (platform-api §3.9).
    ///
    /// - Throws: `Rejection.notFound(.user)`.
    func requireUser(_ user: UserID, in application: Application.ID) throws {
        guard try conversationCount(of: user, in: application) != nil else {
            throw Rejection.notFound(.user)
        }
    }

    /// Whether a user has an identity, told or made by being named (rulings 10).
    func hasIdentity(_ user: UserID, in application: Application.ID) throws -> Bool {
        try first(
            """
            SELECT 1 FROM identities
            WHERE application = \(application) AND user_id = \(user)
                AND standing <> \(User.Standing.unknown.rawValue)
            """
        ) { row in try row.int64(0) } != nil
    }

    /// How many conversations a user is or was in; `nil` when nobody has named him.
    func conversationCount(of user: UserID, in application: Application.ID) throws -> Int64? {
        try first(
            """
            SELECT conversation_count FROM identities
            WHERE application = \(application) AND user_id = \(user)
            """
        ) { row in try row.int64(0) }
    }
}

extension [UserID: BasicIdentity] {
    /// What objects show of a user; one not found has but his id.
    func identity(of user: UserID) -> BasicIdentity {
        self[user] ?? BasicIdentity(userID: user)
    }
}

extension BasicIdentity {
    /// What ``init(_:)`` reads, in this order, from the table under the name `i`.
    static let columns: StaticString = "i.user_id, i.display_name, i.avatar_url, i.kind"

    init(_ row: borrowing Row) throws {
        guard let kind = Identity.Kind(rawValue: try row.text(3)) else {
            throw StoreFault.unreadable("identities.kind")
        }
        self.init(
            userID: try row.user(0), displayName: try row.optionalText(1),
            avatarURL: try row.optionalText(2), kind: kind)
    }
}
