import Messaging
import SQL

extension Transaction {
    /// A user; `nil` when nobody has named him.
    func user(_ id: UserID, in application: Application.ID) throws -> User? {
        try first(
            """
            SELECT \(raw: User.columns) FROM identities i
            WHERE i.application = \(application) AND i.user_id = \(id)
            """
        ) { row in try User(row) }
    }

    /// Those of some users that were ever named, in one statement.
    func users(_ ids: Set<UserID>, in application: Application.ID) throws -> [User] {
        guard !ids.isEmpty else { return [] }
        return try rows(
            """
            SELECT \(raw: User.columns) FROM identities i
            WHERE i.application = \(application) AND i.user_id IN (\(few: ids.map(\.text)))
            """
        ) { row in try User(row) }
    }

    /// A user as far as he has an identity.
    ///
    /// - Throws: `Rejection.notFound(.identity)`.
    func identifiedUser(_ id: UserID, in application: Application.ID) throws -> User {
        guard let user = try user(id, in: application), user.standing != .unknown else {
            throw Rejection.notFound(.identity)
        }
        return user
    }
}

extension User {
    /// What ``init(_:)`` reads, in this order, from the table under the name `i`.
    static let columns: StaticString =
        """
        i.user_id, i.kind, i.standing, i.identity_version, i.is_suspended, i.sessions_ended_at,
            i.metadata, i.display_name, i.avatar_url, i.first_name, i.last_name, i.phone_number,
            i.email_address, i.public_key
        """

    init(_ row: borrowing Row) throws {
        guard let kind = Identity.Kind(rawValue: try row.text(1)),
            let standing = Standing(rawValue: try row.int64(2))
        else { throw StoreFault.unreadable("identities.kind or standing") }
        var identity = Identity(userID: try row.user(0), kind: kind)
        if let metadata = try row.optionalBlob(6) {
            var reader = ByteReader(metadata)
            identity.metadata = try reader.texts()
            try reader.finish()
        }
        identity[.displayName] = try row.optionalText(7)
        identity[.avatarURL] = try row.optionalText(8)
        identity[.firstName] = try row.optionalText(9)
        identity[.lastName] = try row.optionalText(10)
        identity[.phoneNumber] = try row.optionalText(11)
        identity[.emailAddress] = try row.optionalText(12)
        identity[.publicKey] = try row.optionalText(13)
        self.init(
            identity: identity, standing: standing, identityVersion: try row.int64(3),
            isSuspended: try row.bool(4), sessionsEndedAt: try row.optionalTimestamp(5))
    }
}
