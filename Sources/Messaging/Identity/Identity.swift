/// What the application has told about a user (platform-api §3.7).
///
/// Two are equal when they hold the same bytes.
public struct Identity: Sendable {
    /// Person or program.
    public enum Kind: String, CaseIterable, Sendable {
        case user, bot
    }

    /// The members that are plain text; the raw value names them.
    public enum Member: String, CaseIterable, Sendable {
        case displayName = "display_name"
        case avatarURL = "avatar_url"
        case firstName = "first_name"
        case lastName = "last_name"
        case phoneNumber = "phone_number"
        case emailAddress = "email_address"
        case publicKey = "public_key"
    }

    /// The user.
    public let userID: UserID
    /// Person or program.
    public var kind: Kind
    /// Texts under at most ``metadataLimit`` keys, without nesting (R49).
    public var metadata: [String: String]
    private var texts: [Member: String]

    /// An identity of which nothing else is told.
    public init(
        userID: UserID, displayName: String? = nil, avatarURL: String? = nil, kind: Kind = .user,
        metadata: [String: String] = [:]
    ) {
        self.userID = userID
        self.kind = kind
        self.metadata = metadata
        texts = [:]
        self[.displayName] = displayName
        self[.avatarURL] = avatarURL
    }

    /// One of its texts; `nil` when it was never told.
    public subscript(member: Member) -> String? {
        get { texts[member] }
        set { texts[member] = newValue }
    }

    /// What objects mentioning this user show of him.
    public var basic: BasicIdentity {
        BasicIdentity(
            userID: userID, displayName: self[.displayName], avatarURL: self[.avatarURL],
            kind: kind)
    }
}

extension Identity: Equatable {
    /// Same members, same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.userID == right.userID && left.kind == right.kind
            && left.metadata.count == right.metadata.count
            && left.metadata.allSatisfy { key, text in
                hasSameBytes(text, right.metadata[key])
            }
            && Member.allCases.allSatisfy { member in hasSameBytes(left[member], right[member]) }
    }

    private static func hasSameBytes(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
        case (nil, nil): true
        case (_?, nil), (nil, _?): false
        }
    }
}
