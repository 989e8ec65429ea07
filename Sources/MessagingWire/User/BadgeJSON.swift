public import JSON
public import Messaging

/// A user's badge in requests and responses (platform-api §5.10).
public enum BadgeJSON {
    fileprivate static let external = "external_unread_count"

    /// Reads the external count.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func read(_ body: JSONValue) throws(Rejection) -> Int64 {
        guard let value = body.present(external) else { throw .missing(external) }
        return try count(value, as: external)
    }

    /// Reads a count.
    ///
    /// - Parameter type: The member that a rejection names if the value is not a number.
    static func count(_ value: JSONValue, as type: String) throws(Rejection) -> Int64 {
        guard value.kind == .number else {
            throw type == external
                ? .invalid(external, .badgeCount)
                : .invalid(type, .operandNumber, .init(path: external))
        }
        guard let count = value.integer, Badge.externalUnreadCounts.contains(count) else {
            throw .invalid(external, .badgeCount)
        }
        return count
    }

    /// Returns the response to `GET`.
    public static func bytes(_ badge: Badge) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("external_unread_count", badge.externalUnreadCount)
            writer.member("unread_conversation_count", badge.unreadConversationCount)
            writer.member("unread_message_count", badge.unreadMessageCount)
        }
        return writer.finish()
    }
}

/// The body of `PATCH …/badge`, which one official client sends (platform-api §5.10).
public enum BadgePatchJSON {
    /// Reads the external count that the last operation sets; `nil` if there is none.
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

extension BadgeJSON {
    /// The schema of what ``bytes(_:)`` writes.
    public static let schema = JSONSchema.named(
        "Badge",
        .object([
            .required(external, externalCount),
            .required("unread_conversation_count", .integer(0 ... .max)),
            .required("unread_message_count", .integer(0 ... .max)),
        ]))

    /// The schema of what ``read(_:)`` reads.
    public static let draftSchema = JSONSchema.named(
        "BadgeDraft", .object([.required(external, externalCount)]))

    fileprivate static let externalCount = JSONSchema.integer(Badge.externalUnreadCounts)
}

extension BadgePatchJSON {
    /// The schema of what ``read(_:)`` reads; a single operation is accepted without the array too.
    public static let schema = JSONSchema.named(
        "BadgePatch",
        .array(
            of: .object([
                .required("operation", .choice(["set"])),
                .required("property", .choice([BadgeJSON.external])),
                .required("value", BadgeJSON.externalCount),
            ])))
}
