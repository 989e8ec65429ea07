public import JSON
public import Messaging

/// The body of `PATCH …/badge`, which one client sends (platform-api §5.10).
public enum BadgePatchJSON {
    /// Reads the external count that the last operation sets; `nil` when there is none.
    public static func read(_ body: JSONValue) throws(Rejection) -> Int64? {
        try PatchJSON.read(body) { operation throws(Rejection) in
            guard operation.property == BadgeJSON.external else {
                throw operation.unknownProperty(.badgeProperty)
            }
            try operation.requireSet()
            return try BadgeJSON.count(operation.operand(), as: "value")
        }.last
    }
}
