/// The identity that the application set for a user (platform-api §3.7).
///
/// Two identities are equal if all their texts have the same bytes.
public struct Identity: Sendable {
    /// Whether the user is a person (`user`) or a program (`bot`).
    public enum Kind: String, CaseIterable, Sendable {
        case user, bot
    }

    /// The members that are plain text; raw values are their names in JSON.
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
    /// Whether the user is a person or a program.
    public var kind: Kind
    /// The metadata: at most ``metadataLimit`` keys with texts, without nesting (R49).
    public var metadata: [String: String]
    private var texts: [Member: String]

    /// Creates an identity without other text members.
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

    /// A text member; `nil` if it is not set.
    public subscript(member: Member) -> String? {
        get { texts[member] }
        set { texts[member] = newValue }
    }

    /// The members that other objects show of the user.
    public var basic: BasicIdentity {
        BasicIdentity(
            userID: userID, displayName: self[.displayName], avatarURL: self[.avatarURL],
            kind: kind)
    }
}

extension Identity: Equatable {
    /// Whether both have the same members with the same bytes.
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

/// The members of an identity that other objects show (platform-api §3.1).
public struct BasicIdentity: Equatable, Sendable {
    /// The user.
    public let userID: UserID
    /// The display name; `nil` for a user that was only named (ruling 10).
    public let displayName: String?
    /// The URL of the user's picture.
    public let avatarURL: String?
    /// Whether the user is a person or a program: 1.x shows programs by their display name (platform-api §1.3).
    public let kind: Identity.Kind

    /// All members.
    public init(
        userID: UserID, displayName: String? = nil, avatarURL: String? = nil,
        kind: Identity.Kind = .user
    ) {
        self.userID = userID
        self.displayName = displayName
        self.avatarURL = avatarURL
        self.kind = kind
    }
}

extension Identity.Member {
    /// The maximum number of Unicode scalars (platform-api §3.7); `nil` for no separate limit.
    public var limit: Int? {
        switch self {
        case .displayName, .firstName, .lastName: 128
        case .avatarURL: 1024
        case .phoneNumber: 32
        case .emailAddress: 255
        case .publicKey: nil
        }
    }

    /// Validates a text: its length, and that it has no U+0000; a display name must not be empty (ruling 19).
    ///
    /// - Throws: `invalid(property)`.
    public func check(_ text: String, as property: String) throws(Rejection) {
        if let limit, text.unicodeScalars.prefix(limit + 1).count > limit {
            throw .invalid(
                property, .identityLength,
                .init(amount: text.unicodeScalars.count, limit: limit))
        }
        if self == .displayName, text.isEmpty { throw .invalid(property, .displayNameEmpty) }
        guard text.isStorable else { throw .invalid(property, .identityNull) }
    }
}

extension Identity {
    /// The maximum number of keys of an identity's metadata (R49).
    public static let metadataLimit = 16

    /// Validates metadata: at most 16 keys, with the rules of conversations for keys and texts (R49, R41).
    ///
    /// - Throws: `invalid(property)` with the first broken rule.
    public static func check(
        _ metadata: [String: String], as property: String
    ) throws(Rejection) {
        guard metadata.count <= metadataLimit else {
            throw .invalid(property, .identityMetadataCount, .init(amount: metadata.count))
        }
        let members = metadata.map { key, text in MetadataTree.Member(key: key, value: .text(text))
        }
        try MetadataTree.object(members).check(as: property)
    }
}

/// One operation on an identity (platform-api §5.7).
public enum IdentityPatch: Equatable, Sendable {
    /// Sets a text.
    case set(Identity.Member, String)
    /// Sets whether the user is a person or a program.
    case setKind(Identity.Kind)
    /// Replaces all metadata.
    case setMetadata([String: String])
    /// Sets one key of the metadata.
    case setMetadataKey(String, String)
    /// Removes one key of the metadata; a missing key is not an error.
    case deleteMetadataKey(String)
}

extension Identity {
    /// Returns the event of a patch: all operations are applied in order, then the result is validated and compared
    /// with the former identity.
    ///
    /// - Returns: `nil` if the identity does not change.
    /// - Throws: `invalid("metadata")` for more than 16 keys at the end (R49).
    public func patching(_ patches: [IdentityPatch]) throws(Rejection) -> Event? {
        let after = patched(by: patches)
        try Identity.check(after.metadata, as: "metadata")
        guard after != self else { return nil }
        return .identityPatched(IdentityPatched(user: userID, patches: patches))
    }

    /// Returns the identity after operations.
    public func patched(by patches: [IdentityPatch]) -> Identity {
        var identity = self
        for patch in patches {
            switch patch {
            case .set(let member, let text): identity[member] = text
            case .setKind(let kind): identity.kind = kind
            case .setMetadata(let metadata): identity.metadata = metadata
            case .setMetadataKey(let key, let text): identity.metadata[key] = text
            case .deleteMetadataKey(let key): identity.metadata[key] = nil
            }
        }
        return identity
    }
}
