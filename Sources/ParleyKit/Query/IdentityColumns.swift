public import FoundationEssentials
internal import SQL

extension Identity {
    /// The columns of identities.
    public static let columns = Columns()

    /// The order of the display names.
    public static func naturalOrder(_ columns: Columns) -> [Sort<Identity>] {
        [columns.displayName.ascending]
    }

    /// The columns of identities.
    public struct Columns: Sendable {
        /// The user.
        public var id: Column<Identity, UserID> { Column("i.user", .user) }
        /// The name to show.
        public var displayName: Column<Identity, String?> {
            Column("i.display_name", optional: .text)
        }
        /// The first name.
        public var firstName: Column<Identity, String?> { Column("i.first_name", optional: .text) }
        /// The last name.
        public var lastName: Column<Identity, String?> { Column("i.last_name", optional: .text) }
        /// The e-mail address.
        public var emailAddress: Column<Identity, String?> {
            Column("i.email_address", optional: .text)
        }
        /// The phone number.
        public var phoneNumber: Column<Identity, String?> {
            Column("i.phone_number", optional: .text)
        }
        /// A public key.
        public var publicKey: Column<Identity, String?> { Column("i.public_key", optional: .text) }
        /// The URL of a picture.
        public var avatarURL: Column<Identity, URL?> { Column("i.avatar_url", optional: .url) }
        /// Whether this user follows the identity.
        public var isFollowed: Column<Identity, Bool> { Column("i.is_followed", .flag) }
        /// Texts by their keys: `$0.metadata["team"] == "blue"`.
        public var metadata: MetadataColumns<Identity> {
            MetadataColumns { path in
                // No key has a quotation mark: a query with an invalid path is refused.
                let member = "$" + path.keys.map { key in ".\"\(key)\"" }.joined()
                return """
                    CASE json_type(i.metadata, \(member)) WHEN 'text'
                    THEN json_extract(i.metadata, \(member)) END
                    """
            }
        }
    }

    /// Where the store has identities.
    public static let rows = StoredRows<Identity>(
        source: "identities i",
        isShown: "1",
        idColumns: "i.user AS id",
        readID: { row in UserID(try row.text("id")) },
        tieBreaks: ["i.user"],
        tables: [.identities],
        read: { reader, ids in try reader.identities(ids) },
        differences: [
            "displayName": { $0.displayName != $1.displayName },
            "firstName": { $0.firstName != $1.firstName },
            "lastName": { $0.lastName != $1.lastName },
            "emailAddress": { $0.emailAddress != $1.emailAddress },
            "phoneNumber": { $0.phoneNumber != $1.phoneNumber },
            "publicKey": { $0.publicKey != $1.publicKey },
            "avatarURL": { $0.avatarURL != $1.avatarURL },
            "metadata": { $0.metadata != $1.metadata },
            "isFollowed": { $0.isFollowed != $1.isFollowed },
        ],
        metadata: { identity in identity.metadata })
}
