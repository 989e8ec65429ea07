public import JSON
public import Messaging

/// The body of `PATCH …/users/{u}`: changes of blocks and suspension in one patch (platform-api §5.9, §5.11).
public enum UserPatchJSON {
    /// Reads the operations in order; one object means an array of one.
    public static func read(
        _ body: JSONValue, _ version: APIVersion
    ) throws(Rejection) -> [UserPatch] {
        var named = 0
        return try PatchJSON.read(body) { operation throws(Rejection) in
            let patch = try patch(operation, version)
            named += patch.named.count
            guard named <= mostUsersNamed else {
                throw .invalid(
                    operation.property, .operandUserCount,
                    .init(amount: named, limit: mostUsersNamed))
            }
            return patch
        }
    }

    /// The maximum number of users that one patch may name (proposed), because each takes time on the
    /// single writer.
    static let mostUsersNamed = UserPatch.blockLimit

    private static func patch(
        _ operation: PatchOperation, _ version: APIVersion
    ) throws(Rejection) -> UserPatch {
        switch operation.property {
        case "blocks": return try blocks(operation, version)
        case "suspended":
            try operation.requireSet()
            guard let isSuspended = try operation.operand().bool else {
                throw .invalid("value", .operandSuspended)
            }
            return .suspend(isSuspended)
        default: throw operation.unknownProperty(.userProperty)
        }
    }

    private static func blocks(
        _ operation: PatchOperation, _ version: APIVersion
    ) throws(Rejection) -> UserPatch {
        switch operation.verb {
        case .add: return .block(try operation.user(version))
        case .remove: return .unblock(try operation.user(version))
        case .set: return .setBlocks(try operation.users(version, atMost: mostUsersNamed))
        case .delete: throw .invalid(operation.property, .verbOfUsers)
        }
    }
}

extension UserPatchJSON {
    /// The schema of what ``read(_:_:)`` reads; a single operation is accepted without the array too.
    public static func schema(_ version: APIVersion) -> JSONSchema {
        .named(
            "UserPatch",
            .array(
                of: .anyOf([
                    .object([
                        .required("operation", .choice(["add", "remove"])),
                        .required("property", .choice(["blocks"])),
                        .required(
                            version.namesIdentities ? "id" : "value",
                            UserIDJSON.namingSchema(version)),
                        PatchOperation.ignoredIndex,
                    ]),
                    .object([
                        .required("operation", .choice(["set"])),
                        .required("property", .choice(["blocks"])),
                        .required(
                            "value",
                            .array(of: UserIDJSON.namingSchema(version), 0...mostUsersNamed)),
                    ]),
                    .object([
                        .required("operation", .choice(["set"])),
                        .required("property", .choice(["suspended"])),
                        .required("value", .boolean),
                    ]),
                ])))
    }
}

/// The body of `PATCH /apps/{APP}` (platform-api §5.11).
public enum ApplicationPatchJSON {
    /// Reads the lifetime of sessions, in seconds, that the last operation sets; `nil` for none.
    public static func read(_ body: JSONValue) throws(Rejection) -> Int64? {
        try PatchJSON.read(body) { operation throws(Rejection) in
            guard operation.property == "session_ttl_in_seconds" else {
                throw operation.unknownProperty(.applicationProperty)
            }
            try operation.requireSet()
            let operand = try operation.operand()
            guard operand.kind == .number else { throw operation.invalidOperand(.operandNumber) }
            guard let seconds = operand.integer, Application.sessionLifetimes.contains(seconds)
            else { throw .invalid(operation.property, .sessionLifetime) }
            return seconds
        }.last
    }
}

extension ApplicationPatchJSON {
    /// The schema of what ``read(_:)`` reads; a single operation is accepted without the array too.
    public static let schema = JSONSchema.named(
        "ApplicationPatch",
        .array(
            of: .object([
                .required("operation", .choice(["set"])),
                .required("property", .choice(["session_ttl_in_seconds"])),
                .required("value", .integer(Application.sessionLifetimes)),
            ])))
}
