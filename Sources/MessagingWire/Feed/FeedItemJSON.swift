public import JSON
public import Messaging

/// An object of a user's feed as it is now, or that it is gone (Y1): `{"type","id","data"}`.
public enum FeedItemJSON: Equatable, Sendable {
    /// A conversation; `nil` if it is gone.
    case conversation(Conversation.ID, ConversationJSON?)
    /// A message; `nil` if it is gone.
    case message(Message.ID, MessageJSON?)
    /// The positions that a participant has received and read.
    case receipts(Conversation.ID, UserID, Receipts)
    /// An identity; `nil` if it is gone.
    case identity(UserID, Identity?)
    /// An announcement; `nil` if it is gone.
    case announcement(Announcement.ID, AnnouncementJSON?)

    /// Writes the object.
    public func write(_ presentation: Presentation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", type)
            writer.member("id", id)
            writer.key("data")
            switch self {
            case .conversation(_, let conversation?):
                conversation.write(presentation, into: &writer)
            case .message(_, let message?): message.write(presentation, into: &writer)
            case .receipts(let conversation, let user, let receipts):
                writer.object { writer in
                    Self.writeReceipts(receipts, of: user, in: conversation, into: &writer)
                }
            case .identity(_, let identity?):
                IdentityJSON.write(identity, presentation.links, into: &writer)
            case .announcement(_, let announcement?):
                announcement.write(presentation, into: &writer)
            case .conversation, .message, .identity, .announcement: writer.null()
            }
        }
    }

    /// Writes the members of the data of receipts.
    static func writeReceipts(
        _ receipts: Receipts, of user: UserID, in conversation: Conversation.ID,
        into writer: inout JSONWriter
    ) {
        writer.member("conversation", IdentifierJSON.text(conversation, in: .conversations))
        writer.member("user", UserIDJSON.text(user, .v3_0))
        writer.member("delivered", receipts.delivered.text)
        writer.member("read", receipts.read.text)
    }

    /// Reads an item in version 3.0, as ``write(_:into:)`` writes it.
    ///
    /// - Returns: `nil` if its type is unknown.
    /// - Throws: ``FeedItemError`` if a member is missing or invalid.
    public static func read(_ item: JSONValue) throws(FeedItemError) -> FeedItemJSON? {
        guard let type = item["type"]?.string, let id = item["id"]?.string, let data = item["data"]
        else { throw FeedItemError(id: item["id"]?.string) }
        let object = data.isNull ? nil : data
        let read: FeedItemJSON? =
            switch type {
            case "conversation":
                IdentifierJSON.read(id, in: .conversations).flatMap { id in
                    present(object, ConversationJSON.readFeed).map { .conversation(id, $0) }
                }
            case "message":
                IdentifierJSON.read(id, in: .messages).flatMap { id in
                    present(object, MessageJSON.readResponse).map { .message(id, $0) }
                }
            case "receipts": readReceipts(data)
            case "identity":
                UserIDJSON.read(identity: id).flatMap { user in
                    present(object, IdentityJSON.readResponse).map { .identity(user, $0) }
                }
            case "announcement":
                IdentifierJSON.read(id, in: .announcements).flatMap { id in
                    present(object, AnnouncementJSON.readResponse).map { .announcement(id, $0) }
                }
            default: nil
            }
        if read == nil, types.contains(type) { throw FeedItemError(id: id) }
        return read
    }

    private static let types = ["conversation", "message", "receipts", "identity", "announcement"]

    /// Returns `.some(nil)` without an object, and `nil` for an invalid one.
    private static func present<Object>(
        _ object: JSONValue?, _ read: (JSONValue) -> Object?
    ) -> Object?? {
        guard let object else { return .some(nil) }
        return read(object).map { .some($0) }
    }

    private static func readReceipts(_ data: JSONValue) -> FeedItemJSON? {
        guard
            let conversation: Conversation.ID = IdentifierJSON.read(
                data["conversation"], in: .conversations),
            let user = data["user"]?.string.flatMap(UserIDJSON.read(identity:)),
            let delivered = readPositions(data["delivered"]),
            let read = readPositions(data["read"])
        else { return nil }
        return .receipts(conversation, user, Receipts(delivered: delivered, read: read))
    }

    private static func readPositions(_ text: JSONValue?) -> IntervalSet? {
        guard let positions = text?.string.flatMap({ IntervalSet(text: $0) }),
            positions.intervals.last.map({ FeedNumber.range.contains($0.upperBound) }) ?? true
        else { return nil }
        return positions
    }

    var type: String {
        switch self {
        case .conversation: "conversation"
        case .message: "message"
        case .receipts: "receipts"
        case .identity: "identity"
        case .announcement: "announcement"
        }
    }

    var id: String {
        switch self {
        case .conversation(let id, _): IdentifierJSON.text(id, in: .conversations)
        case .message(let id, _): IdentifierJSON.text(id, in: .messages)
        case .receipts(let id, let user, _):
            "\(IdentifierJSON.text(id, in: .conversations))/receipts/\(URIComponent.encoded(user.text))"
        case .identity(let user, _): UserIDJSON.text(user, .v3_0)
        case .announcement(let id, _): IdentifierJSON.text(id, in: .announcements)
        }
    }

    /// The schema of an item.
    public static let schema = JSONSchema.named(
        "FeedItem",
        .anyOf([
            item("conversation", ConversationJSON.feedSchema.orNull),
            item("message", MessageJSON.schema(.v3_0).orNull),
            item(
                "receipts",
                .named("FeedReceipts", .object(receiptMembers))),
            item("identity", IdentityJSON.schema.orNull),
            item("announcement", AnnouncementJSON.userSchema(.v3_0).orNull),
        ]))

    /// The members that ``writeReceipts(_:of:in:into:)`` writes.
    static let receiptMembers: [JSONSchema.Member] = [
        .required("conversation", .identifier(.conversations)),
        .required("user", UserIDJSON.identitySchema),
        .required("delivered", .string),
        .required("read", .string),
    ]

    private static func item(_ type: String, _ data: JSONSchema) -> JSONSchema {
        .object([
            .required("type", .choice([type])), .required("id", .string),
            .required("data", data),
        ])
    }
}

/// An item of a feed has a known type, but a member is missing or invalid.
public struct FeedItemError: Error, Equatable, Sendable {
    /// The id of the item; `nil` if it has none.
    public let id: String?
}

/// The counts, positions and sizes that a client reads: 0 to 2^53 - 1. No server has as many of anything, and sums of
/// thousands of them do not overflow.
enum FeedNumber {
    static let range: ClosedRange<Int64> = 0...(1 << 53 - 1)

    /// Reads a number; `nil` for anything else.
    static func read(_ value: JSONValue?) -> Int64? {
        value?.integer.flatMap { number in range.contains(number) ? number : nil }
    }
}
