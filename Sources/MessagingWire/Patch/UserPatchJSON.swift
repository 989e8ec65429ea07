public import JSON
public import Messaging

/// The body of `PATCH …/users/{u}`: blocks and suspension, mixed (platform-api §5.9, §5.11).
public enum UserPatchJSON {
    /// Reads the operations in their order; one object is an array of one.
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

    /// How many users one patch may name; (proposed): the one writer takes a moment for each.
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
