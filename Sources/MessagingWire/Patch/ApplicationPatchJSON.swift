public import JSON
public import Messaging

/// The body of `PATCH /apps/{APP}` (platform-api §5.11).
public enum ApplicationPatchJSON {
    /// Reads the life of sessions, in seconds, that the last operation sets; `nil` for none.
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
