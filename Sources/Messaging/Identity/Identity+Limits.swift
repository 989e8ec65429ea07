extension Identity.Member {
    /// Most Unicode scalars (platform-api §3.7); `nil` for no limit of its own.
    public var limit: Int? {
        switch self {
        case .displayName, .firstName, .lastName: 128
        case .avatarURL: 1024
        case .phoneNumber: 32
        case .emailAddress: 255
        case .publicKey: nil
        }
    }

    /// Judges a text before it is taken: its length, and that it holds no U+0000; only a display name
    /// may not be empty (rulings 19).
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
    /// Most keys of an identity's metadata (R49).
    public static let metadataLimit = 16

    /// Judges metadata before it is taken: 16 keys, each legal as those of conversations (R49, R41).
    ///
    /// - Throws: `invalid(property)`.
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
