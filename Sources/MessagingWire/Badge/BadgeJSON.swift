public import JSON
public import Messaging

/// A user's badge: body and answer (platform-api §5.10).
public enum BadgeJSON {
    static let external = "external_unread_count"

    /// Reads the external count.
    ///
    /// - Parameter body: An object; members it does not know are ignored.
    public static func read(_ body: JSONValue) throws(Rejection) -> Int64 {
        guard let value = body.present(external) else { throw .missing(external) }
        return try count(value, as: external)
    }

    /// - Parameter type: What a rejection names when the value is no number at all.
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

    /// The answer to `GET`.
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
