public import JSON
public import Messaging

/// The body of `POST …/conversations` (platform-api §5.1.1).
public enum ConversationDraftJSON {
    /// The creator of a conversation.
    public enum Creator: Sendable {
        case system
        /// A user, which is a participant even if the body does not name it; the body may name no other users (R1).
        ///
        /// `nil` if the path has no valid user id. That user still counts as a participant, because the body is
        /// validated before the path (R114).
        case user(UserID?)
    }

    /// Reads a draft in the fixed order of platform-api §1.6.
    ///
    /// - Parameters:
    ///   - body: An object; unknown members are ignored.
    ///   - creator: The creator.
    /// - Throws: The first error, with the name of the invalid member.
    public static func read(
        _ body: JSONValue, _ version: APIVersion, _ limits: MessagingLimits,
        by creator: Creator = .system
    ) throws(Rejection) -> Conversation.Draft {
        let participants = try participants(body, version, limits, creator)
        let isDistinct = try isDistinct(body)
        let metadata = try metadata(body)
        let id: Conversation.ID? = try IdentifierJSON.proposed(
            in: body, .conversations, .conversationID)
        return try Conversation.Draft(
            participants: participants, isDistinct: isDistinct, metadata: metadata, proposedID: id,
            limits)
    }

    private static func participants(
        _ body: JSONValue, _ version: APIVersion, _ limits: MessagingLimits, _ creator: Creator
    ) throws(Rejection) -> [UserID] {
        guard let value = body.present("participants") else { throw .missing("participants") }
        guard var users = UserIDJSON.list(value, version) else {
            throw .invalid("participants", .participantUsers)
        }
        var unknownCreators = 0
        switch creator {
        case .system: break
        case .user(let user?) where !users.contains(user): users.insert(user, at: 0)
        case .user(.some): break
        case .user(nil): unknownCreators = 1
        }
        guard (1...limits.participants).contains(users.count + unknownCreators) else {
            throw .invalid(
                "participants", .participantCount,
                .init(amount: users.count + unknownCreators, limit: limits.participants))
        }
        return users
    }

    private static func isDistinct(_ body: JSONValue) throws(Rejection) -> Bool {
        guard let value = body.present("distinct") else { return false }
        guard let isDistinct = value.bool else { throw .invalid("distinct", .distinct) }
        return isDistinct
    }

    private static func metadata(_ body: JSONValue) throws(Rejection) -> MetadataTree? {
        guard let value = body.present("metadata") else { return nil }
        guard value.kind == .object else { throw .invalid("metadata", .metadataObject) }
        let tree = try MetadataJSON.read(value, at: "metadata", as: "metadata")
        try tree.check(as: "metadata")
        return tree
    }
}

extension ConversationDraftJSON {
    /// Returns the body of the request with which a user creates a conversation; ``read(_:_:_:by:)`` reads it.
    public static func body(_ draft: Conversation.Draft) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            if let id = draft.proposedID {
                writer.member("id", IdentifierJSON.text(id, in: .conversations))
            }
            writer.key("participants")
            writer.array { writer in
                for user in draft.participants.users {
                    writer.string(UserIDJSON.text(identity: user))
                }
            }
            writer.member("distinct", draft.isDistinct)
            if let metadata = draft.metadata {
                writer.key("metadata")
                MetadataJSON.write(metadata, into: &writer)
            }
        }
        return writer.finish()
    }
}

extension ConversationDraftJSON {
    /// The schema of what ``read(_:_:_:by:)`` reads from the system.
    public static func schema(_ version: APIVersion, _ limits: MessagingLimits) -> JSONSchema {
        schema("ConversationDraft", 1...limits.participants, version)
    }

    /// The schema of what ``read(_:_:_:by:)`` reads from a user, which is a participant without being named.
    public static func userSchema(_ version: APIVersion, _ limits: MessagingLimits) -> JSONSchema {
        schema("UserConversationDraft", 0...limits.participants, version)
    }

    /// A member that the documentation of 3.0 names without a definition.
    private static let significance = JSONSchema.Member.accepted("significance", .anything)

    private static func schema(
        _ name: String, _ users: ClosedRange<Int>, _ version: APIVersion
    ) -> JSONSchema {
        .named(
            name,
            .object(
                [
                    .required(
                        "participants", .array(of: UserIDJSON.namingSchema(version), users)),
                    .optional(
                        "distinct",
                        JSONSchema.boolean.withDescription(
                            "Whether it is the one conversation of exactly these participants.")),
                    .optional("metadata", MetadataJSON.schema),
                    .optional("id", .name(in: .conversations)),
                ] + (version == .v3_0 ? [significance] : [])))
    }
}
