import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension RequestContext {
    /// `POST /conversations` (platform-api §5.1.1).
    func createConversation(_ body: JSONValue) async throws -> Reply {
        let draft = try ConversationDraftJSON.read(body.asObject(), version, store.limits)
        let creation = try await store.createConversation(draft, key: key, in: application)
        let made = creation.object
        let asked = draft.proposedID ?? key.map(Conversation.ID.init)
        return reply(creation).locating(made.conversation.id, askedAs: asked, links)
    }

    private func reply(_ creation: CreationOutcome<ConversationSnapshot>) -> Reply {
        switch creation {
        case .created(let conversation), .replayed(let conversation):
            located(.created, conversation)
        case .matched(let conversation):
            located(.ok, conversation)
        case .conflict(let conversation):
            APIError.distinctConflict(with: json(conversation)).reply(publicBase: publicBase)
        case .idInUse(let conversation):
            APIError.taken(byConversation: json(conversation)).reply(publicBase: publicBase)
        }
    }

    private func located(_ status: Status, _ conversation: ConversationSnapshot) -> Reply {
        Reply(status, json(conversation)).tagged(conversation.conversation.version).adding(
            "Location", links.location(ofConversation: conversation.conversation.id))
    }
}

extension RequestContext {
    /// `POST /users/{u}/conversations` (platform-api §5.1.7, client-api §4.1).
    func createView(_ body: JSONValue) async throws -> Reply {
        let draft = try ConversationDraftJSON.read(
            body.asObject(), version, store.limits,
            by: .user(parameters["user"].flatMap { UserID($0) }))
        let user = try user()
        let creation = try await store.createConversation(
            draft, by: user, key: key, in: application)
        let asked = draft.proposedID ?? key.map(Conversation.ID.init)
        return reply(creation, to: user)
            .locating(creation.object.id, askedAs: asked, links(.user(user)))
    }

    private func reply(_ creation: CreationOutcome<ConversationView>, to user: UserID) -> Reply {
        let view = json(creation.object, seenBy: user)
        let location = links(.user(user)).location(ofConversation: creation.object.id)
        switch creation {
        case .created, .replayed:
            return Reply(.created, view).tagged(creation.object.version)
                .adding("Location", location)
        case .matched:
            return Reply(.ok, view).tagged(creation.object.version).adding("Location", location)
        case .conflict:
            return APIError.distinctConflict(with: view).reply(publicBase: publicBase)
        case .idInUse: return APIError.taken(byConversation: view).reply(publicBase: publicBase)
        }
    }
}

extension RequestContext {
    /// `GET /conversations` (ruling 37).
    func listConversations() async throws -> Reply {
        let page = try PageQuery<Conversation>(query, .conversations)
        let filter = try ConversationFilter(query, version)
        let found = try await store.conversations(
            matching: filter, after: page.after, limit: page.limit, in: application)
        return try listing(found, page, query, presentation(), id: \.conversation.id) { snapshot in
            ConversationJSON(snapshot)
        }
    }

    /// `GET /users/{u}/conversations` (platform-api §5.1.3).
    func listUserConversations() async throws -> Reply {
        let page = try PageQuery<Conversation>(query, .conversations)
        let order = try order(query["sort_by"])
        let filter = try ConversationFilter(query, version)
        let user = try user()
        let found = try await store.conversations(
            of: user, matching: filter, sortedBy: order, after: page.after, limit: page.limit,
            in: application)
        return try listing(found, page, query, presentation(.user(user)), id: \.id) { view in
            ConversationJSON(view)
        }
    }

    private func listing<Item>(
        _ found: ListPage<Item>, _ page: PageQuery<Conversation>, _ query: Query,
        _ presentation: Presentation, id: (Item) -> Conversation.ID,
        json: (Item) -> ConversationJSON
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

    private func order(_ text: String?) throws(Rejection) -> ConversationOrder {
        switch text {
        case nil, "created_at": .createdAt
        case "last_message": .lastMessage
        default: throw .invalid("sort_by", .sortOrder)
        }
    }
}

extension ConversationFilter {
    /// Reads the filters of a list of conversations (X9).
    ///
    /// - Throws: `invalid` with the name of a parameter that has a bad value.
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
        isExact = try query.truth("exact") ?? false
        guard !isExact || !participants.isEmpty else {
            throw .invalid("exact", .exactWithoutParticipants)
        }
        isDistinct = try query.truth("distinct")
        createdAfter = try query.time("created_after")
        createdBefore = try query.time("created_before")
        for (name, value) in query.all where name.hasPrefix(Self.metadataPrefix) {
            guard let path = MetadataPathJSON.read(name) else {
                throw .invalid(name, .metadataPath)
            }
            metadata.append(MetadataCondition(path: path, value: value))
        }
    }

    /// What the name of a filter by metadata begins with.
    static let metadataPrefix = "metadata."
}

extension RequestContext {
    /// `GET /conversations/{C}` (platform-api §5.1.2).
    func readConversation() async throws -> Reply {
        let asked = try conversation()
        let found =
            if let position = try query.asOf() {
                try await store.conversation(asked, asOf: position, in: application)
            } else {
                try await store.conversation(asked, in: application)
            }
        return reading(found.conversation.version) { Reply(.ok, json(found)) }
            .locating(found.conversation.id, askedAs: asked, links)
    }

    /// A conversation as the system sees it.
    func json(_ conversation: ConversationSnapshot) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(conversation).write(presentation(), into: &writer)
        return writer.finish()
    }
}

extension RequestContext {
    /// `GET /users/{u}/conversations/{C}` (platform-api §5.1.4).
    ///
    /// The tag is for a change (X4), and none of it is a condition here: messages and receipts raise no
    /// version (ruling 14), so a 304 would hide what a reader of a view asks for.
    func readView() async throws -> Reply {
        let (asked, user) = (try conversation(), try user())
        let found =
            if let position = try query.asOf() {
                try await store.conversation(
                    asked, asOf: position, seenBy: user, in: application)
            } else {
                try await store.conversation(asked, seenBy: user, in: application)
            }
        let reply = Reply(.ok, json(found, seenBy: user))
            .locating(found.id, askedAs: asked, links(.user(user)))
        // What a former participant sees is frozen, and he changes nothing: no version is his.
        return found.isFormer ? reply : reply.tagged(found.version)
    }

    /// A conversation as a user sees it.
    func json(_ view: ConversationView, seenBy user: UserID) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        ConversationJSON(view).write(presentation(.user(user)), into: &writer)
        return writer.finish()
    }
}

extension RequestContext {
    /// `PATCH /conversations/{C}` (platform-api §5.1.5): all operations, or none.
    func patchConversation(_ body: JSONValue) async throws -> Reply {
        try await demanding { (conversation: ConversationSnapshot) in
            json(conversation)
        } change: { demand in
            let operations = try ConversationPatchJSON.read(
                body.asPatch(), version, store.limits)
            let asked = try conversation()
            let found = try await store.patchConversation(
                asked, operations, if: demand, in: application)
            return patched { json(found) }.tagged(found.conversation.version)
                .locating(found.conversation.id, askedAs: asked, links)
        }
    }
}

extension RequestContext {
    /// `DELETE /conversations/{C}` (platform-api §5.1.6): always for everyone, again and again.
    func deleteConversation() async throws -> Reply {
        try await demanding { (conversation: ConversationSnapshot) in
            json(conversation)
        } change: { demand in
            let asked = try conversation()
            let own = try await store.deleteConversation(asked, if: demand, in: application)
            return Reply.noContent.locating(own, askedAs: asked, links)
        }
    }
}

extension RequestContext {
    /// `PATCH /users/{u}/conversations/{C}` (platform-api §5.1.7): all operations, or none.
    func patchView(_ body: JSONValue) async throws -> Reply {
        try await demanding { (view: ConversationView) in
            json(view, seenBy: try user())
        } change: { demand in
            let operations = try ConversationPatchJSON.read(
                body.asPatch(), version, store.limits)
            let (user, asked) = (try user(), try conversation())
            let found = try await store.patchConversation(
                asked, operations, by: user, if: demand, in: application)
            return patched { json(found, seenBy: user) }.tagged(found.version)
                .locating(found.id, askedAs: asked, links(.user(user)))
        }
    }

    /// `DELETE /users/{u}/conversations/{C}?mode=…` (platform-api §5.1.7, client-api §4.1).
    func deleteView() async throws -> Reply {
        try await demanding { (view: ConversationView) in
            json(view, seenBy: try user())
        } change: { demand in
            let deletion = try DeletionQuery(query).ofConversation()
            let (user, asked) = (try user(), try conversation())
            let own = try await store.deleteConversation(
                asked, deletion, by: user, if: demand, in: application)
            return Reply.noContent.locating(own, askedAs: asked, links(.user(user)))
        }
    }
}

/// From whose view a user deletes: `mode`, `leave` and the older `destroy` (client-api §4.1).
struct DeletionQuery: Sendable {
    /// Whether from everybody's.
    let isForAll: Bool
    private let leave: String?

    /// - Throws: `invalid("mode")` for another value than `all_participants` and `my_devices`,
    ///   `invalid("destroy")` for another one than `true` and `false`. Without `mode` it is `destroy=true` that
    ///   deletes for all.
    init(_ query: Query) throws(Rejection) {
        let destroys = try query.truth("destroy") ?? false
        switch query["mode"] {
        case nil: isForAll = destroys
        case "all_participants": isForAll = true
        case "my_devices": isForAll = false
        default: throw .invalid("mode", .deletionMode)
        }
        leave = query["leave"]
    }

    /// What it means for a conversation.
    ///
    /// - Throws: `invalid("leave")` for another value than `true` and `false`, where it counts.
    func ofConversation() throws(Rejection) -> Conversation.Deletion {
        guard !isForAll else { return .forAll }
        switch leave {
        case nil, "false": return .forMe
        case "true": return .leaving
        default: throw .invalid("leave", .deletionLeave)
        }
    }
}
