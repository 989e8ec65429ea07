import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension RequestContext {
    /// `POST /conversations/{C}/messages` (platform-api §5.2.1).
    func sendMessage(_ body: JSONValue) async throws -> Reply {
        if MessageBatchJSON.isBatch(body, version) { return try await sendBatch(body) }
        let asked = try MessageDraftJSON(body.asObject(), version)
        let conversation = try conversation()
        if let schedule = asked.schedule {
            return answer(
                try await store.scheduleMessage(
                    asked.draft, to: conversation, for: schedule, key: key, in: application),
                askedIn: conversation)
        }
        do {
            let creation = try await store.sendMessage(
                asked.draft, to: conversation, key: key, in: application)
            let message = creation.object.message
            return reply(creation).locating(message, askedIn: conversation, links)
        } catch let before as ReplayedAcceptance {
            return answer(.accepted(before.conversation), askedIn: conversation)
        }
    }

    func reply(_ creation: CreationOutcome<MessageSnapshot>) -> Reply {
        switch creation {
        case .created(let sent), .replayed(let sent), .matched(let sent):
            Reply(.created, json(sent, isJustSent: true)).tagged(sent.message.version).adding(
                "Location",
                version.namesIdentities
                    ? links.location(ofMessage: sent.message.id, in: sent.message.conversation)
                    : links.location(ofShortMessage: sent.message.id))
        case .idInUse(let sent), .conflict(let sent):
            APIError.taken(byMessage: json(sent)).reply(publicBase: publicBase)
        }
    }
}

extension RequestContext {
    /// A batch (platform-api §5.2.1): judged whole, then sent whole.
    func sendBatch(_ body: JSONValue) async throws -> Reply {
        let batch = try MessageBatchJSON.read(body, version)
        let conversation = try conversation()
        return answer(
            try await store.sendBatch(batch, to: conversation, key: key, in: application),
            askedIn: conversation)
    }

    /// What is answered without a message: 202, its time will come.
    func answer(_ acceptance: Acceptance, askedIn asked: Conversation.ID) -> Reply {
        switch acceptance {
        case .accepted(let own): Reply(.accepted).locating(own, askedAs: asked, links)
        case .replayed(let sent):
            reply(CreationOutcome.replayed(sent)).locating(sent.message, askedIn: asked, links)
        case .idInUse(let sent):
            reply(CreationOutcome.idInUse(sent)).locating(sent.message, askedIn: asked, links)
        }
    }
}

extension RequestContext {
    /// `POST /users/{u}/conversations/{C}/messages`: the user sends (platform-api §5.14).
    func sendVisibleMessage(_ body: JSONValue) async throws -> Reply {
        let draft = try MessageDraftJSON.read(body.asObject(), by: user())
        let (user, conversation) = (try user(), try conversation())
        let creation = try await store.sendMessage(
            draft, to: conversation, by: user, key: key, in: application)
        let message = creation.object.message
        return reply(creation, to: user)
            .locating(message, askedIn: conversation, links(.user(user)))
    }

    /// `DELETE /users/{u}/messages/{M}?mode=…` (platform-api §5.14, client-api §4.2).
    func deleteVisibleMessage() async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message, seenBy: try user())
        } change: { demand in
            let deletion = try DeletionQuery(query)
            try await store.deleteMessage(
                message(), forAll: deletion.isForAll, by: user(), if: demand, in: application)
            return .noContent
        }
    }

    private func reply(_ creation: CreationOutcome<MessageSnapshot>, to user: UserID) -> Reply {
        let sent = creation.object
        let shown = json(sent, seenBy: user)
        switch creation {
        case .created, .replayed, .matched:
            return Reply(.created, shown).tagged(sent.message.version).adding(
                "Location",
                links(.user(user)).location(
                    ofMessage: sent.message.id, in: sent.message.conversation))
        case .idInUse, .conflict:
            return APIError.taken(byMessage: shown).reply(publicBase: publicBase)
        }
    }
}

extension RequestContext {
    /// `GET /conversations/{C}/messages` (platform-api §5.2.2).
    func listMessages() async throws -> Reply {
        let page = try PageQuery<Message>(query, .messages)
        let policy = try InlineContentPreference(query)
        let filter = try MessageFilter(query, version)
        let found =
            if let position = try query.asOf(filter) {
                try await store.messages(
                    in: conversation(), asOf: position, after: page.after, limit: page.limit,
                    in: application)
            } else {
                try await store.messages(
                    in: conversation(), matching: filter, after: page.after, limit: page.limit,
                    in: application)
            }
        return try await reply(found, page, .system, policy)
    }

    /// A page of messages as somebody sees them.
    func reply(
        _ found: ListPage<MessageSnapshot>, _ page: PageQuery<Message>,
        _ perspective: LinkBuilder.Perspective, _ policy: InlineContentPreference?
    ) async throws -> Reply {
        let messages = found.items.prefix(page.size)
        let presentation = await presentation(perspective, of: messages.map(\.message), policy)
        var writer = JSONWriter(capacity: 4096)
        writer.array { writer in
            for message in messages { MessageJSON(message).write(presentation, into: &writer) }
        }
        let reply = try listing(writer.finish(), of: found, size: page.size) { found in
            found.message.id.uuid
        }
        guard let winner = found.conversation, try winner != conversation() else { return reply }
        // An alias led here (X1.2, ruling 13).
        return reply.adding(
            "Content-Location",
            links.location(ofList: try listPath(in: winner), query.all))
    }
}

extension Query {
    /// The event after which a list is shown as it was; the list has no filters then.
    func asOf(_ filter: MessageFilter) throws(Rejection) -> LogPosition? {
        let position = try asOf()
        guard position == nil || filter.isEmpty else {
            throw .invalid("as_of", .logPositionWithFilters)
        }
        return position
    }
}

extension MessageFilter {
    /// Reads the filters of a list of messages (X9).
    ///
    /// - Throws: `invalid` with the name of a parameter that has a bad value.
    init(_ query: Query, _ version: APIVersion) throws(Rejection) {
        self.init()
        sender = try query.user("sender", version)
        if let text = query["mime_type"] {
            guard let range = MediaRange(text) else { throw .invalid("mime_type", .mediaRange) }
            media = range
        }
        if let text = query["transfer_status"] {
            guard let status = TransferStatus(rawValue: text) else {
                throw .invalid("transfer_status", .transferStatus)
            }
            transfer = status
        }
        sentAfter = try query.time("sent_after")
        sentBefore = try query.time("sent_before")
        unreadBy = try query.user("unread_by", version)
    }
}

extension RequestContext {
    /// `GET /conversations/{C}/messages/{M}`, and by its short address (platform-api §5.2.4).
    func readMessage() async throws -> Reply {
        let (policy, showsTransfer) = (try inlinePolicy(), try showsTransfer())
        let conversation = try conversationIfNamed()
        if let position = try query.asOf() {
            let found = try await store.message(
                message(), asOf: position, in: conversation, in: application)
            var presentation = await presentation(.system, of: [found.message], policy)
            presentation.showsTransfer = showsTransfer
            return reading(found.message.version) { Reply(.ok, json(found, presentation)) }
                .locating(found.message, askedIn: conversation, links)
        }
        let (found, basis) = try await store.messageWithValidity(
            message(), seenBy: nil, in: conversation, in: application)
        var presentation = await presentation(.system, of: [found.message], policy)
        presentation.showsTransfer = showsTransfer
        return reading(found.message.version) {
            let json = json(found, presentation)
            remember(found, as: json, nil, basis)
            return Reply(.ok, json)
        }.locating(found.message, askedIn: conversation, links)
    }

    /// The same from memory.
    func recallMessage() -> Reply? {
        guard let asked = try? conversationIfNamed() as Conversation.ID??,
            let known = recallMessage(seenBy: nil),
            asked ?? known.conversation == known.conversation
        else { return nil }
        return reading(known.version) { Reply(.ok, known.json) }
    }

    /// A message as the system sees it.
    func json(_ message: MessageSnapshot, isJustSent: Bool = false) -> [UInt8] {
        json(message, presentation(), isJustSent: isJustSent)
    }

    /// A message as somebody sees it.
    func json(
        _ message: MessageSnapshot, _ presentation: Presentation, isJustSent: Bool = false
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        MessageJSON(message).write(presentation, isJustSent: isJustSent, into: &writer)
        return writer.finish()
    }

    /// What is remembered of the message the path names; `nil` as well for a request that asks for
    /// more than the message.
    func recallMessage(seenBy user: UserID?) -> MessageCache.Kept? {
        guard query.isEmpty, let id = try? message() else { return nil }
        return api.memory.recall(memoryKey(id, user), from: store)
    }

    /// Remembers what was answered, unless more was asked for or it holds links that expire.
    func remember(
        _ found: MessageSnapshot, as json: [UInt8], _ user: UserID?, _ basis: CacheValidity
    ) {
        let message = found.message
        guard query.isEmpty,
            message.parts.allSatisfy({ part in part.body.isInline })
        else { return }
        api.memory.keep(
            MessageCache.Kept(
                conversation: message.conversation, version: message.version, json: json,
                basis: basis),
            of: memoryKey(message.id, user))
    }

    private func memoryKey(_ message: Message.ID, _ user: UserID?) -> MessageCache.Key {
        MessageCache.Key(
            application: application, message: message, viewer: user, version: version,
            base: api.publicBase.forwarded(by: request))
    }
}

extension MessagePart.Body {
    /// Whether its bytes are in the message.
    fileprivate var isInline: Bool {
        if case .inline = self { true } else { false }
    }
}

extension RequestContext {
    /// `GET /users/{u}/conversations/{C}/messages` (platform-api §5.2.3).
    func listVisibleMessages() async throws -> Reply {
        let page = try PageQuery<Message>(query, .messages)
        let policy = try InlineContentPreference(query)
        let filter = try MessageFilter(query, version)
        let user = try user()
        let found =
            if let position = try query.asOf(filter) {
                try await store.messages(
                    in: conversation(), asOf: position, seenBy: user, after: page.after,
                    limit: page.limit, in: application)
            } else {
                try await store.messages(
                    in: conversation(), seenBy: user, matching: filter, after: page.after,
                    limit: page.limit, in: application)
            }
        return try await reply(found, page, .user(user), policy)
    }

    /// `GET /users/{u}/messages/{M}` (platform-api §5.2.4).
    func readVisibleMessage() async throws -> Reply {
        let (policy, showsTransfer) = (try inlinePolicy(), try showsTransfer())
        let user = try user()
        let (found, basis) = try await store.messageWithValidity(
            message(), seenBy: user, in: nil, in: application)
        var presentation = await presentation(.user(user), of: [found.message], policy)
        presentation.showsTransfer = showsTransfer
        let json = json(found, presentation)
        remember(found, as: json, user, basis)
        return Reply(.ok, json).tagged(found.message.version)
    }

    /// The same from memory.
    func recallVisibleMessage() -> Reply? {
        guard let user = try? user(), let known = recallMessage(seenBy: user) else { return nil }
        return Reply(.ok, known.json).tagged(known.version)
    }

    /// A message as a user sees it, its contents as links.
    func json(_ message: MessageSnapshot, seenBy user: UserID) -> [UInt8] {
        json(message, presentation(.user(user)))
    }
}

extension RequestContext {
    /// `DELETE /conversations/{C}/messages/{M}`, and by its short address (platform-api §5.2.5).
    func deleteMessage() async throws -> Reply {
        try await demanding { (message: MessageSnapshot) in
            json(message)
        } change: { demand in
            let (message, asked) = (try message(), try conversationIfNamed())
            let own = try await store.deleteMessage(
                message, in: asked, if: demand, in: application)
            return Reply.noContent.locating(message, in: own, askedIn: asked, links)
        }
    }
}

extension RequestContext {
    /// `POST /users/{u}/messages/{M}/receipts` (platform-api §5.2.6).
    func sendReceipt(_ body: JSONValue) async throws -> Reply {
        let kind = try ReceiptJSON.read(body.asObject())
        try await store.recordReceipt(kind, of: message(), by: user(), in: application)
        return .noContent
    }

    /// `POST /users/{u}/conversations/{C}/mark_all_read` (platform-api §5.1.7).
    func markAllRead(_ body: JSONValue) async throws -> Reply {
        let place = try MarkAllReadJSON.read(body.asObject())
        let (user, asked) = (try user(), try conversation())
        let read = try await store.markAllRead(upTo: place, by: user, in: asked, in: application)
        return Reply(.accepted, MarkAllReadJSON.answer(read.place))
            .locating(read.conversation, askedAs: asked, links(.user(user)))
    }
}
