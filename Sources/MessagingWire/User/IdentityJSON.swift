public import JSON
public import Messaging

/// An identity in requests and responses, the same in every version (platform-api §3.7).
public enum IdentityJSON {
    /// Reads an identity: first the display name, then the other members in the order of platform-api §3.7.
    ///
    /// - Parameters:
    ///   - body: An object; unknown members and its `user_id` are ignored.
    ///   - user: The user from the path, evaluated after the body (R114).
    public static func read(
        _ body: JSONValue, of user: @autoclosure () throws(Rejection) -> UserID
    ) throws(Rejection) -> Identity {
        let texts = try Identity.Member.allCases.map { member throws(Rejection) in
            (member, try text(of: member, in: body))
        }
        let kind = try kind(in: body)
        let metadata = try metadata(in: body)
        var identity = Identity(userID: try user(), kind: kind, metadata: metadata)
        for (member, text) in texts { identity[member] = text }
        return identity
    }

    /// Reads an identity as ``write(_:_:into:)`` writes it; `nil` if it has no valid user id. Invalid members are read as
    /// absent.
    public static func readResponse(_ object: JSONValue) -> Identity? {
        guard let user = object["user_id"]?.string.flatMap({ text in UserID(text) }) else {
            return nil
        }
        var identity = Identity(
            userID: user, kind: object["identity_type"]?.string.flatMap(kind) ?? .user)
        for member in Identity.Member.allCases {
            identity[member] = object[member.rawValue]?.string
        }
        if let metadata = object["metadata"] {
            for (key, value) in metadata.members { identity.metadata[key] = value.string }
        }
        return identity
    }

    private static func text(
        of member: Identity.Member, in body: JSONValue
    ) throws(Rejection) -> String? {
        guard let value = body.present(member.rawValue) else {
            guard member != .displayName else { throw .missing(member.rawValue) }
            return nil
        }
        guard let text = value.string else { throw .invalid(member.rawValue, .identityText) }
        try member.check(text, as: member.rawValue)
        return text
    }

    private static func kind(in body: JSONValue) throws(Rejection) -> Identity.Kind {
        for name in kindNames {
            guard let value = body.present(name) else { continue }
            guard let kind = value.string.flatMap(kind) else { throw .invalid(name, .identityKind) }
            return kind
        }
        return .user
    }

    private static func metadata(in body: JSONValue) throws(Rejection) -> [String: String] {
        guard let value = body.present("metadata") else { return [:] }
        guard value.kind == .object else { throw .invalid("metadata", .identityMetadata) }
        let metadata = try metadata(value, at: "metadata", as: "metadata")
        try Identity.check(metadata, as: "metadata")
        return metadata
    }

    /// The names of the member for the kind: the current one, and that of an early draft of 2.0.
    fileprivate static let kindNames = ["identity_type", "type"]

    /// Reads `user` or `bot` in any case.
    static func kind(_ text: String) -> Identity.Kind? {
        Identity.Kind(rawValue: text.lowercased())
    }

    /// Reads the texts of a flat object (R49).
    ///
    /// - Parameters:
    ///   - path: The path of the object, such as `metadata`.
    ///   - property: The member that a rejection names.
    /// - Throws: `invalid(property, .identityMetadataValue)` for a value that is not a string.
    static func metadata(
        _ object: JSONValue, at path: String, as property: String
    ) throws(Rejection) -> [String: String] {
        var metadata: [String: String] = [:]
        for (key, value) in object.members {
            guard let text = value.string else {
                throw .invalid(property, .identityMetadataValue, .init(path: "\(path).\(key)"))
            }
            metadata[key] = text
        }
        return metadata
    }

    /// Writes an identity with every member; those without a value are `null`.
    public static func write(
        _ identity: Identity, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("id", UserIDJSON.text(identity: identity.userID))
            writer.member("url", links.identity(identity.userID))
            writer.member("user_id", identity.userID.text)
            for member in Identity.Member.allCases {
                writer.key(member.rawValue)
                if let text = identity[member] { writer.string(text) } else { writer.null() }
            }
            writer.member("identity_type", identity.kind.rawValue)
            // The web SDK reads the name of an early draft (client-api §4.6).
            if links.omitsApplication { writer.member("type", identity.kind.rawValue) }
            writer.key("metadata")
            write(identity.metadata, into: &writer)
        }
    }

    /// Writes metadata, sorted by key.
    static func write(_ metadata: [String: String], into writer: inout JSONWriter) {
        writer.object { writer in
            for (key, text) in metadata.sorted(by: { left, right in left.key < right.key }) {
                writer.key(key)
                writer.string(text)
            }
        }
    }
}

extension IdentityJSON {
    /// The schema of an identity in answers, the same in every version.
    public static let schema = JSONSchema.named(
        "Identity",
        .object(
            [
                .required("id", UserIDJSON.identitySchema),
                .required("url", .url),
                .required("user_id", UserIDJSON.bareSchema),
            ] + Identity.Member.allCases.map { .required($0.rawValue, text($0).orNull) } + [
                .required("identity_type", kindSchema),
                .optional("type", kindSchema),
                .required("metadata", metadataSchema),
            ]))

    /// The schema of what ``read(_:of:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "IdentityDraft",
        .object(
            Identity.Member.allCases.map { member in
                member == .displayName
                    ? .required(member.rawValue, .storable(length: 1...128))
                    : .optional(member.rawValue, text(member))
            } + [
                .optional("identity_type", kindSchema),
                .accepted("type", kindSchema),
                .optional("metadata", metadataSchema),
            ]))

    fileprivate static let kindSchema = JSONSchema.choice(Identity.Kind.allCases.map(\.rawValue))

    fileprivate static let metadataSchema = JSONSchema.object([], others: .string(length: 0...2048))
        .withDescription("At most 16 strings of 2048 bytes; keys are letters, digits, `-` and `_`.")

    /// The schema of the text of a member. A display name that was never set is `null`, not empty.
    static func text(_ member: Identity.Member) -> JSONSchema {
        .storable(length: 0...(member.limit ?? .max))
    }
}

/// The body of `PATCH …/identity`: Layer-Patch (platform-api §4, §5.7).
public enum IdentityPatchJSON {
    /// Reads the operations in order; one object means an array of one.
    public static func read(_ body: JSONValue) throws(Rejection) -> [IdentityPatch] {
        try PatchJSON.read(body, patch)
    }

    private static func patch(_ operation: PatchOperation) throws(Rejection) -> IdentityPatch {
        let path = PatchProperty.split(operation.property)
        if path[0] == "metadata" { return try metadata(operation, path.dropFirst()) }
        guard path.count == 1 else { throw operation.unknownProperty(.identityProperty) }
        if IdentityJSON.kindNames.contains(path[0]) {
            try operation.requireSet()
            guard let kind = IdentityJSON.kind(try operation.text()) else {
                throw .invalid(operation.property, .identityKind)
            }
            return .setKind(kind)
        }
        guard let member = Identity.Member(rawValue: path[0]) else {
            throw operation.unknownProperty(.identityProperty)
        }
        try operation.requireSet()
        let text = try operation.text()
        try member.check(text, as: operation.property)
        return .set(member, text)
    }

    private static func metadata(
        _ operation: PatchOperation, _ path: ArraySlice<String>
    ) throws(Rejection) -> IdentityPatch {
        let name = operation.property
        // The metadata is flat: a path into a text would turn it into an object (R49).
        guard path.count <= 1 else { throw .invalid(name, .identityMetadataPath) }
        try MetadataTree.check(path: Array(path), as: name)
        switch operation.verb {
        case .set:
            let operand = try operation.operand()
            guard let key = path.first else {
                guard operand.kind == .object else {
                    throw operation.invalidOperand(.operandIdentityMetadata)
                }
                let metadata = try IdentityJSON.metadata(operand, at: name, as: "value")
                try Identity.check(metadata, as: name)
                return .setMetadata(metadata)
            }
            guard let text = operand.string else { throw operation.invalidOperand(.operandText) }
            try MetadataTree.text(text).check(as: name)
            return .setMetadataKey(key, text)
        case .delete:
            try operation.refuseIndex()
            guard let key = path.first else { return .setMetadata([:]) }
            return .deleteMetadataKey(key)
        case .add, .remove: throw .invalid(name, .verbOfMetadata)
        }
    }
}

extension IdentityPatchJSON {
    /// The schema of what ``read(_:)`` reads; a single operation is accepted without the array too.
    public static let schema = JSONSchema.named(
        "IdentityPatch",
        .array(
            of: .anyOf(
                Identity.Member.allCases.map { member in
                    set(member.rawValue, IdentityJSON.text(member))
                } + [
                    set("identity_type", IdentityJSON.kindSchema),
                    set("metadata", IdentityJSON.metadataSchema),
                    .object([
                        .required("operation", .choice(["set"])),
                        .required("property", .pattern("metadata[.][A-Za-z0-9_-]+")),
                        .required("value", .string(length: 0...2048)),
                    ]),
                    .object([
                        .required("operation", .choice(["delete"])),
                        .required("property", .pattern("metadata([.][A-Za-z0-9_-]+)?")),
                    ]),
                ])))

    private static func set(_ property: String, _ value: JSONSchema) -> JSONSchema {
        .object([
            .required("operation", .choice(["set"])), .required("property", .choice([property])),
            .required("value", value),
        ])
    }
}
