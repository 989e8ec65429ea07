public import JSON
public import Messaging

/// The body of `PATCH …/conversations/{C}`: Layer-Patch (platform-api §4, §5.1.5).
public enum ConversationPatchJSON {
    /// Reads the operations in order; one object means an array of one.
    ///
    /// - Throws: The first error, also when the patch names more than 1000 users, or more than a conversation may have
    ///   participants if that is a larger number.
    public static func read(
        _ body: JSONValue, _ version: APIVersion, _ limits: MessagingLimits
    ) throws(Rejection) -> [ConversationPatch] {
        let most = max(PatchOperation.mostUsersNamed, limits.participants)
        var named = 0
        return try PatchJSON.read(body) { operation throws(Rejection) in
            let patch = try patch(operation, version, most)
            named += patch.usersNamed
            guard named <= most else {
                throw .invalid(
                    patch.property, .operandUserCount, .init(amount: named, limit: most))
            }
            return patch
        }
    }

    private static func patch(
        _ operation: PatchOperation, _ version: APIVersion, _ mostUsers: Int
    ) throws(Rejection) -> ConversationPatch {
        guard let property = PatchProperty(operation.property) else {
            throw operation.unknownProperty(.conversationProperty)
        }
        switch property {
        case .participants: return try participants(operation, version, mostUsers)
        case .metadata(let path): return try metadata(operation, path)
        }
    }

    private static func participants(
        _ operation: PatchOperation, _ version: APIVersion, _ mostUsers: Int
    ) throws(Rejection) -> ConversationPatch {
        switch operation.verb {
        case .add: return .addParticipant(try operation.user(version))
        case .remove: return .removeParticipant(try operation.user(version))
        case .set:
            return .setParticipants(try operation.users(version, atMost: mostUsers))
        case .delete: throw .invalid(operation.property, .verbOfUsers)
        }
    }

    /// Returns the body of a patch in version 3.0; ``read(_:_:_:)`` reads it.
    public static func body(_ patches: [ConversationPatch]) -> [UInt8] {
        var writer = JSONWriter()
        writer.array { writer in
            for patch in patches { write(patch, into: &writer) }
        }
        return writer.finish()
    }

    private static func write(_ patch: ConversationPatch, into writer: inout JSONWriter) {
        writer.object { writer in
            switch patch {
            case .addParticipant(let user), .removeParticipant(let user):
                if case .addParticipant = patch {
                    writer.member("operation", "add")
                } else {
                    writer.member("operation", "remove")
                }
                writer.member("property", "participants")
                writer.member("id", UserIDJSON.text(identity: user))
            case .setParticipants(let users):
                writer.member("operation", "set")
                writer.member("property", "participants")
                writer.key("value")
                writer.array { writer in
                    for user in users { writer.string(UserIDJSON.text(identity: user)) }
                }
            case .setMetadata(let path, let tree):
                writer.member("operation", "set")
                writer.member("property", (["metadata"] + path).joined(separator: "."))
                writer.key("value")
                MetadataJSON.write(tree, into: &writer)
            case .deleteMetadata(let path):
                writer.member("operation", "delete")
                writer.member("property", (["metadata"] + path).joined(separator: "."))
            }
        }
    }

    // MARK: - Metadata

    private static func metadata(
        _ operation: PatchOperation, _ path: [String]
    ) throws(Rejection) -> ConversationPatch {
        let text = operation.property
        switch operation.verb {
        case .set:
            try MetadataTree.check(path: path, as: text)
            let operand = try operation.operand()
            guard !path.isEmpty || operand.kind == .object else {
                throw .invalid("value", .metadataObject, .init(path: text))
            }
            let tree = try MetadataJSON.read(operand, at: text, as: "value")
            try tree.check(as: text, level: path.count)
            return .setMetadata(path: path, tree)
        case .delete:
            try MetadataTree.check(path: path, as: text)
            try operation.refuseIndex()
            return .deleteMetadata(path: path)
        case .add, .remove: throw .invalid(text, .verbOfMetadata)
        }
    }
}

extension ConversationPatch {
    fileprivate var usersNamed: Int {
        switch self {
        case .addParticipant, .removeParticipant: 1
        case .setParticipants(let users): users.count
        case .setMetadata, .deleteMetadata: 0
        }
    }
}

extension ConversationPatchJSON {
    /// The schema of what ``read(_:_:_:)`` reads; a single operation is accepted without the array too.
    public static func schema(_ version: APIVersion, _ limits: MessagingLimits) -> JSONSchema {
        .named(
            "ConversationPatch",
            .array(of: .anyOf([participant(version)] + others(version, limits))))
    }

    private static func participant(_ version: APIVersion) -> JSONSchema {
        .object([
            .required("operation", .choice(["add", "remove"])),
            .required("property", .choice(["participants"])),
            .required(version.namesIdentities ? "id" : "value", UserIDJSON.namingSchema(version)),
            PatchOperation.ignoredIndex,
        ])
    }

    private static func others(
        _ version: APIVersion, _ limits: MessagingLimits
    ) -> [JSONSchema] {
        let path = JSONSchema.text(JSONTextSchema(pattern: "^metadata([.][A-Za-z0-9_-]+)*$"))
        return [
            .object([
                .required("operation", .choice(["set"])),
                .required("property", .choice(["participants"])),
                .required(
                    "value",
                    .array(of: UserIDJSON.namingSchema(version), 0...limits.participants)),
            ]),
            .object([
                .required("operation", .choice(["set"])),
                .required("property", path),
                .required("value", .anyOf([.string(length: 0...2048), MetadataJSON.schema])),
            ]),
            .object([
                .required("operation", .choice(["delete"])), .required("property", path),
            ]),
        ]
    }
}
