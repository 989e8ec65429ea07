import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

// The system and a user run the same operations on conversations. The path decides the perspective: below
// `/users/{u}` it is that user's (platform-api §5.14).

// MARK: - Create

extension RequestContext {
    /// `POST /conversations` (platform-api §5.1.1) and `POST /users/{u}/conversations` (platform-api §5.1.7,
    /// client-api §4.1).
    func createConversation(_ body: JSONValue) async throws -> Reply {
        guard isForUser else {
            let draft = try ConversationDraftJSON.read(body.asObject(), version, store.limits)
            let creation = try await store.createConversation(draft, key: key, in: application)
            let conversation = creation.object.conversation
            return reply(
                creation, conversation.id, json(creation.object), conversation.version,
                requestedAs: draft.proposedID, .system)
        }
        let draft = try ConversationDraftJSON.read(
            body.asObject(), version, store.limits,
            by: .user(userIfValid))
        let user = try user()
        let creation = try await store.createConversation(
            draft, by: user, key: key, in: application)
        let view = creation.object
        return reply(
            creation, view.id, json(view, seenBy: user), view.version,
            requestedAs: draft.proposedID, .user(user))
    }

    private func reply<Created>(
        _ creation: CreationOutcome<Created>, _ id: Conversation.ID, _ json: [UInt8],
        _ version: Int64, requestedAs proposedID: Conversation.ID?,
        _ perspective: Perspective
    ) -> Reply {
        let links = links(perspective)
        let reply =
            switch creation {
            case .created, .replayed:
                Reply(.created, json).addingETag(version)
                    .adding("Location", links.location(ofConversation: id))
            case .matched:
                Reply(.ok, json).addingETag(version)
                    .adding("Location", links.location(ofConversation: id))
            case .conflict: APIError.distinctConflict(with: json).reply(publicBase: publicBase)
            case .idInUse: APIError.taken(byConversation: json).reply(publicBase: publicBase)
            }
        let requestedID = proposedID ?? key.map(Conversation.ID.init)
        return reply.addingContentLocation(id, requestedAs: requestedID, links)
    }
}

// MARK: - List

extension RequestContext {
    /// `GET /conversations/{C}/aliases`.
    func listAliases() async throws -> Reply {
        let requestedID = try conversation()
        let (own, aliases) = try await store.aliases(of: requestedID, in: application)
        var writer = JSONWriter(capacity: 64 + 128 * aliases.count)
        writer.array { writer in
            for alias in aliases {
                ConversationAliasJSON.write(
                    alias.id, since: alias.mergedAt, at: alias.position, into: &writer)
            }
        }
        return Reply(.ok, writer.finish())
            .addingContentLocation(own, requestedAs: requestedID, links)
    }

    /// `GET /conversations` (ruling 37) and `GET /users/{u}/conversations` (platform-api §5.1.3).
    func listConversations() async throws -> Reply {
        let page = try PageQuery<Conversation>(query, .conversations)
        guard isForUser else {
            let filter = try ConversationFilter(query, version)
            let isDetailed = try isDetailed()
            let found = try await store.conversations(
                matching: filter, after: page.after, limit: page.limit,
                isCounted: query.isCounted, in: application)
            return try listing(found, page, presentation(), id: \.conversation.id) { snapshot in
                ConversationJSON(snapshot, isDetailed: isDetailed)
            }
        }
        let order = try order(query["sort_by"])
        let filter = try ConversationFilter(query, version)
        let user = try user()
        let found = try await store.conversations(
            of: user, matching: filter, sortedBy: order, after: page.after, limit: page.limit,
            isCounted: query.isCounted, in: application)
        return try listing(found, page, presentation(.user(user)), id: \.id) { view in
            ConversationJSON(view)
        }
    }

    private func listing<Item>(
        _ found: ListPage<Item>, _ page: PageQuery<Conversation>, _ presentation: Presentation,
        id: (Item) -> Conversation.ID, json: (Item) -> ConversationJSON
    ) throws -> Reply {
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for item in found.items.prefix(page.size) {
                json(item).write(presentation, into: &writer)
            }
        }
        let reply = try listing(writer.finish(), of: found, size: page.size) { item in
            id(item).uuid
        }
        guard let start = found.start, start != page.after else { return reply }
        // `from_id` was an alias (X1.2, ruling 13).
        return reply.adding(
            "Content-Location",
            links.location(ofList: try listPath(in: nil), query.starting(after: start.uuid)))
    }

    /// Returns whether the answer has the members of `include=details`.
    private func isDetailed() throws(Rejection) -> Bool {
        try query.isSet("include", to: "details", .conversationInclude)
    }

    private func order(_ text: String?) throws(Rejection) -> ConversationOrder {
        switch text {
        case nil, "created_at": .createdAt
        case "last_message": .lastMessage
        default: throw .invalid("sort_by", .sortOrder)
        }
    }
}

extension ConversationFilter {
    /// The prefix of the query parameters that filter by metadata.
    static let metadataPrefix = "metadata."

    /// Reads the filters of a list of conversations (X9).
    ///
    /// - Throws: `invalid` with the name of the parameter whose value is not allowed.
    init(_ query: Query, _ version: APIVersion) throws(Rejection) {
        self.init()
        for text in query.values("participants") {
            for name in text.split(separator: ",", omittingEmptySubsequences: false) {
                guard let user = UserIDJSON.read(query: String(name), version) else {
                    throw .invalid("participants", .participantFilter)
                }
                participants.append(user)
            }
        }
        isExact = try query.bool("exact") ?? false
        guard !isExact || !participants.isEmpty else {
            throw .invalid("exact", .exactWithoutParticipants)
        }
        isDistinct = try query.bool("distinct")
        createdAfter = try query.time("created_after")
        createdBefore = try query.time("created_before")
        for (name, value) in query.all where name.hasPrefix(Self.metadataPrefix) {
            guard let path = MetadataPathJSON.read(name) else {
                throw .invalid(name, .metadataPath)
            }
            metadata.append(MetadataCondition(path: path, value: value))
        }
    }
}

// MARK: - Read

extension RequestContext {
    /// `GET /conversations/{C}` (platform-api §5.1.2) and `GET /users/{u}/conversations/{C}`
    /// (platform-api §5.1.4).
    func readConversation() async throws -> Reply {
        let requestedID = try conversation()
        guard isForUser else {
            let isDetailed = try isDetailed()
            guard !isDetailed || query["as_of"] == nil else {
                throw Rejection.invalid("include", .conversationInclude)
            }
            let found =
                if let position = try query.asOf() {
                    try await store.conversation(requestedID, asOf: position, in: application)
                } else {
                    try await store.conversation(requestedID, in: application)
                }
            // Messages change the details, and do not raise the version.
            let reply =
                isDetailed
                ? Reply(.ok, json(found, isDetailed: true)).addingETag(found.conversation.version)
                : conditionalReply(found.conversation.version) { Reply(.ok, json(found)) }
            return
                reply
                .addingContentLocation(found.conversation.id, requestedAs: requestedID, links)
        }
        let user = try user()
        let found =
            if let position = try query.asOf() {
                try await store.conversation(
                    requestedID, asOf: position, seenBy: user, in: application)
            } else {
                try await store.conversation(requestedID, seenBy: user, in: application)
            }
        return viewReply(json(found, seenBy: user))
            .addingContentLocation(found.id, requestedAs: requestedID, links(.user(user)))
    }

    /// Returns the JSON of a conversation as the system sees it.
    private func json(_ conversation: ConversationSnapshot, isDetailed: Bool = false) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(conversation, isDetailed: isDetailed).write(presentation(), into: &writer)
        return writer.finish()
    }

    /// Returns the JSON of a conversation as a user sees it.
    private func json(_ view: ConversationView, seenBy user: UserID) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(view).write(presentation(.user(user)), into: &writer)
        return writer.finish()
    }
}

// MARK: - Change and delete

extension RequestContext {
    /// `PATCH /conversations/{C}` (platform-api §5.1.5) and `PATCH /users/{u}/conversations/{C}`
    /// (platform-api §5.1.7): all operations are applied, or none.
    func patchConversation(_ body: JSONValue) async throws -> Reply {
        try await withConversationPrecondition { precondition in
            let operations = try ConversationPatchJSON.read(
                body.asPatch(), version, store.limits)
            guard isForUser else {
                let requestedID = try conversation()
                let found = try await store.patchConversation(
                    requestedID, operations, if: precondition, in: application)
                return patchReply { json(found) }.addingETag(found.conversation.version)
                    .addingContentLocation(found.conversation.id, requestedAs: requestedID, links)
            }
            let (user, requestedID) = (try user(), try conversation())
            let found = try await store.patchConversation(
                requestedID, operations, by: user, if: precondition, in: application)
            return patchReply { json(found, seenBy: user) }.addingETag(found.version)
                .addingContentLocation(found.id, requestedAs: requestedID, links(.user(user)))
        }
    }

    /// `DELETE /conversations/{C}` (platform-api §5.1.6), which deletes for all participants and also
    /// succeeds when repeated, and `DELETE /users/{u}/conversations/{C}?mode=…` (platform-api §5.1.7,
    /// client-api §4.1).
    func deleteConversation() async throws -> Reply {
        try await withConversationPrecondition { precondition in
            guard isForUser else {
                let requestedID = try conversation()
                let own = try await store.deleteConversation(
                    requestedID, if: precondition, in: application)
                return Reply.noContent
                    .addingContentLocation(own, requestedAs: requestedID, links)
            }
            let deletion = try DeletionQuery(query).ofConversation()
            let (user, requestedID) = (try user(), try conversation())
            let own = try await store.deleteConversation(
                requestedID, deletion, by: user, if: precondition, in: application)
            return Reply.noContent
                .addingContentLocation(own, requestedAs: requestedID, links(.user(user)))
        }
    }

    /// Runs a change under the condition in `If-Match`; the 412 shows the conversation from the perspective of
    /// the request (X4).
    private func withConversationPrecondition(
        _ change: (VersionPrecondition) async throws -> Reply
    ) async throws -> Reply {
        guard isForUser else {
            return try await withPrecondition(
                { (conversation: ConversationSnapshot) in json(conversation) }, change: change)
        }
        return try await withPrecondition(
            { (view: ConversationView) in json(view, seenBy: try user()) }, change: change)
    }
}

/// The scope of a deletion by a user: the query parameters `mode`, `leave` and the older `destroy` (client-api §4.1).
struct DeletionQuery: Sendable {
    /// Whether the deletion is for all participants.
    let isForAll: Bool
    private let leave: String?

    /// Reads the parameters. Without `mode`, `destroy=true` deletes for all participants.
    ///
    /// - Throws: `invalid("mode")` unless it is `all_participants` or `my_devices`; `invalid("destroy")` unless it is
    ///   `true` or `false`.
    init(_ query: Query) throws(Rejection) {
        let destroys = try query.bool("destroy") ?? false
        switch query["mode"] {
        case nil: isForAll = destroys
        case "all_participants": isForAll = true
        case "my_devices": isForAll = false
        default: throw .invalid("mode", .deletionMode)
        }
        leave = query["leave"]
    }

    /// Returns the kind of deletion of a conversation.
    ///
    /// - Throws: `invalid("leave")` unless it is `true` or `false`; a deletion for all participants ignores `leave`.
    func ofConversation() throws(Rejection) -> Conversation.Deletion {
        guard !isForAll else { return .forAll }
        switch leave {
        case nil, "false": return .forMe
        case "true": return .leaving
        default: throw .invalid("leave", .deletionLeave)
        }
    }
}
