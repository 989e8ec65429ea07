import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

// The system and a user run the same operations on messages. The path decides the perspective: below
// `/users/{u}` it is that user's (platform-api §5.14).

// MARK: - Send

extension RequestContext {
    /// `POST /conversations/{C}/messages` (platform-api §5.2.1) and `POST /users/{u}/conversations/{C}/messages`
    /// (platform-api §5.14), where the user is the sender.
    func sendMessage(_ body: JSONValue) async throws -> Reply {
        guard !isForUser else {
            let draft = try MessageDraftJSON.read(body.asObject(), by: user())
            let (perspective, conversation) = (try perspective(), try conversation())
            let creation = try await store.sendMessage(
                draft, to: conversation, by: perspective, key: key, in: application)
            api.signals.sent(
                by: try user(), in: creation.object.message.conversation, of: application)
            let (message, links) = (creation.object.message, links(perspective))
            let reply = reply(creation, perspective)
            // `Location` names the message; clients learn the own id of the conversation as well (ruling 48).
            return caller.user == nil
                ? reply.addingContentLocation(message, requestedIn: conversation, links)
                : reply.addingContentLocation(
                    message.conversation, requestedAs: conversation, links)
        }
        if MessageBatchJSON.isBatch(body, version) { return try await sendBatch(body) }
        let message = try MessageDraftJSON(body.asObject(), version)
        let conversation = try conversation()
        if let schedule = message.schedule {
            return reply(
                try await store.scheduleMessage(
                    message.draft, to: conversation, for: schedule, key: key, in: application),
                requestedIn: conversation)
        }
        do {
            let creation = try await store.sendMessage(
                message.draft, to: conversation, key: key, in: application)
            return reply(creation, .system).addingContentLocation(
                creation.object.message, requestedIn: conversation, links)
        } catch let replayed as ReplayedAcceptance {
            return reply(.accepted(replayed.conversation), requestedIn: conversation)
        }
    }

    /// A batch (platform-api §5.2.1): validated as a whole, then sent as a whole.
    private func sendBatch(_ body: JSONValue) async throws -> Reply {
        let batch = try MessageBatchJSON.read(body, version)
        let conversation = try conversation()
        return reply(
            try await store.sendBatch(batch, to: conversation, key: key, in: application),
            requestedIn: conversation)
    }

    /// Replies to a message or batch that is accepted now and sent later: 202 without a body.
    private func reply(
        _ acceptance: Acceptance, requestedIn requestedID: Conversation.ID
    ) -> Reply {
        switch acceptance {
        case .accepted(let own):
            Reply(.accepted).addingContentLocation(own, requestedAs: requestedID, links)
        case .replayed(let sent):
            reply(CreationOutcome.replayed(sent), .system)
                .addingContentLocation(sent.message, requestedIn: requestedID, links)
        case .idInUse(let sent):
            reply(CreationOutcome.idInUse(sent), .system)
                .addingContentLocation(sent.message, requestedIn: requestedID, links)
        }
    }

    private func reply(
        _ creation: CreationOutcome<MessageSnapshot>, _ perspective: Perspective
    ) -> Reply {
        let sent = creation.object
        let (presentation, id) = (presentation(perspective), sent.message.id)
        switch creation {
        case .created, .replayed, .matched:
            // Only the system's answer counts as just sent; before 2.0 its `Location` is the short address.
            let isSystem = if case .system = perspective { true } else { false }
            return Reply(.created, json(sent, presentation, isJustSent: isSystem))
                .addingETag(sent.message.version)
                .adding(
                    "Location",
                    isSystem && !version.namesIdentities
                        ? presentation.links.location(ofShortMessage: id)
                        : presentation.links.location(
                            ofMessage: id, in: sent.message.conversation))
        case .idInUse, .conflict:
            return APIError.taken(byMessage: json(sent, presentation))
                .reply(publicBase: publicBase)
        }
    }
}

// MARK: - List

extension RequestContext {
    /// `GET /conversations/{C}/messages` (platform-api §5.2.2) and `GET /users/{u}/conversations/{C}/messages`
    /// (platform-api §5.2.3).
    func listMessages() async throws -> Reply {
        let page = try PageQuery<Message>(query, .messages)
        let preference = try InlineContentPreference(query)
        let filter = try MessageFilter(query, version)
        let perspective = try perspective()
        let position = try query.asOf(filter)
        let countsRecipients = try query.countsRecipients()
        if filter.isEmpty, preference == nil, position == nil, !countsRecipients {
            return try await listCachedMessages(page, perspective)
        }
        let found =
            if let position {
                try await store.messages(
                    in: conversation(), asOf: position, seenBy: perspective, after: page.after,
                    limit: page.limit, isCounted: query.isCounted, in: application)
            } else {
                try await store.messages(
                    in: conversation(), seenBy: perspective, matching: filter, after: page.after,
                    limit: page.limit, isCounted: query.isCounted, in: application)
            }
        let messages = found.items.prefix(page.size)
        var presentation = await presentation(
            perspective, of: messages.map(\.message), preference)
        presentation.countsRecipients = countsRecipients
        var writer = JSONWriter(capacity: 4096)
        var written = MessageWriter(presentation)
        writer.array { writer in
            for message in messages { written.write(MessageJSON(message), into: &writer) }
        }
        return try addingListLocation(
            of: found,
            to: listing(writer.finish(), of: found, size: page.size) { found in
                found.message.id.uuid
            })
    }

    /// Lists the current messages without filters and without inlined contents; reads only those that are not cached.
    private func listCachedMessages(
        _ page: PageQuery<Message>, _ perspective: Perspective
    ) async throws -> Reply {
        let (cache, form) = (api.messageCache, cacheForm(perspective.user))
        let found = try await store.messages(
            in: conversation(), seenBy: perspective, after: page.after, limit: page.size,
            in: application
        ) { ids, moment in cache.valid(ids, as: form, at: moment) }
        var writer = MessageWriter(presentation(perspective))
        var size = 2048
        var written: [(id: Message.ID, cached: MessageCache.CachedMessage)] = []
        let elements = found.items.map { item -> [UInt8] in
            switch item {
            case .cached(_, let json): return json
            case .read(let snapshot, let validity):
                // Messages of a conversation have similar sizes.
                var bytes = JSONWriter(capacity: size)
                writer.write(MessageJSON(snapshot), into: &bytes)
                let json = bytes.finish()
                size = json.count + 64
                if let cached = MessageCache.CachedMessage(snapshot.message, json, validity) {
                    written.append((snapshot.message.id, cached))
                }
                return json
            }
        }
        if !written.isEmpty { cache.store(written, as: form) }
        return try addingListLocation(
            of: found,
            to: listing(Reply(.ok, arrayOf: elements), of: found, size: page.size) { item in
                item.id.uuid
            })
    }

    /// Adds the URL of the list if the path named the conversation by an alias (X1.2, ruling 13).
    func addingListLocation<Item>(of found: ListPage<Item>, to reply: Reply) throws -> Reply {
        guard let winner = found.conversation, try winner != conversation() else { return reply }
        return reply.adding(
            "Content-Location",
            links.location(ofList: try listPath(in: winner), query.all))
    }
}

extension Query {
    /// Whether messages show the number of recipients in each status.
    fileprivate func countsRecipients() throws(Rejection) -> Bool {
        try isSet("recipient_status", to: "counts", .recipientStatus)
    }

    /// Returns the event after which a list is shown; a list as of an event cannot be filtered.
    ///
    /// - Throws: `invalid("as_of")` for a position together with filters.
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
    /// - Throws: `invalid` with the name of the parameter whose value is not allowed.
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

// MARK: - Read

extension RequestContext {
    /// `GET /conversations/{C}/messages/{M}`, also by its short address, and `GET /users/{u}/messages/{M}`
    /// (platform-api §5.2.4).
    ///
    /// Only the system can read a message as of an event, or get 304.
    func readMessage() async throws -> Reply {
        let parameters = MessageParameters(
            preference: try inlinePreference(), showsTransfer: try showsTransfer(),
            countsRecipients: try query.countsRecipients())
        let perspective = try perspective()
        switch perspective {
        case .system:
            let conversation = try conversationIfNamed()
            if let position = try query.asOf() {
                let found = try await store.message(
                    message(), asOf: position, in: conversation, in: application)
                let presentation = await presentation(perspective, of: found.message, parameters)
                return conditionalReply(found.message.version) {
                    Reply(.ok, json(found, presentation))
                }.addingContentLocation(found.message, requestedIn: conversation, links)
            }
            let (found, validity) = try await store.messageWithValidity(
                message(), seenBy: .system, in: conversation, in: application)
            let presentation = await presentation(perspective, of: found.message, parameters)
            return conditionalReply(found.message.version) {
                let json = json(found, presentation)
                cache(found, as: json, seenBy: nil, validity)
                return Reply(.ok, json)
            }.addingContentLocation(found.message, requestedIn: conversation, links)
        case .user(let user):
            let (found, validity) = try await store.messageWithValidity(
                message(), seenBy: perspective, in: nil, in: application)
            let presentation = await presentation(perspective, of: found.message, parameters)
            let json = json(found, presentation)
            cache(found, as: json, seenBy: user, validity)
            return viewReply(json)
        }
    }

    /// The parameters that decide what the answer shows of a message.
    private struct MessageParameters {
        let preference: InlineContentPreference?
        let showsTransfer: Bool
        let countsRecipients: Bool
    }

    private func presentation(
        _ perspective: Perspective, of message: Message, _ parameters: MessageParameters
    ) async -> Presentation {
        var presentation = await presentation(perspective, of: [message], parameters.preference)
        presentation.showsTransfer = parameters.showsTransfer
        presentation.countsRecipients = parameters.countsRecipients
        return presentation
    }

    /// Returns the reply of ``readMessage()`` from the cache; `nil` when the message must be read.
    func cachedMessageReply() -> Reply? {
        guard let perspective = try? perspective() else { return nil }
        switch perspective {
        case .system:
            guard let requestedID = try? conversationIfNamed() as Conversation.ID??,
                let cached = cachedMessage(seenBy: nil),
                requestedID ?? cached.conversation == cached.conversation
            else { return nil }
            return conditionalReply(cached.version) { Reply(.ok, cached.json) }
        case .user(let user):
            guard let cached = cachedMessage(seenBy: user) else { return nil }
            return viewReply(cached.json)
        }
    }

    /// Returns the JSON of a message.
    func json(
        _ message: MessageSnapshot, _ presentation: Presentation, isJustSent: Bool = false
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        MessageJSON(message).write(presentation, isJustSent: isJustSent, into: &writer)
        return writer.finish()
    }

    /// Returns the cached message in the path; `nil` also for a request with query parameters.
    private func cachedMessage(seenBy user: UserID?) -> MessageCache.CachedMessage? {
        guard query.isEmpty, let id = try? message() else { return nil }
        return api.messageCache.valid(id, as: cacheForm(user), in: store)
    }

    /// Caches a message, unless the request has query parameters.
    private func cache(
        _ found: MessageSnapshot, as json: [UInt8], seenBy user: UserID?,
        _ validity: CacheValidity?
    ) {
        guard query.isEmpty,
            let cached = MessageCache.CachedMessage(found.message, json, validity)
        else { return }
        api.messageCache.store([(found.message.id, cached)], as: cacheForm(user))
    }

    private func cacheForm(_ user: UserID?) -> MessageCache.Form {
        MessageCache.Form(
            application: application, viewer: user, version: version,
            base: api.publicBase.forwarded(by: request), omitsApplication: caller.user != nil)
    }
}

extension MessageCache.CachedMessage {
    /// `nil` for a message without validity, or with links that expire.
    fileprivate init?(_ message: Message, _ json: [UInt8], _ validity: CacheValidity?) {
        guard let validity, message.parts.allSatisfy({ part in part.body.isInline }) else {
            return nil
        }
        self.init(
            conversation: message.conversation, version: message.version, json: json,
            validity: validity)
    }
}

extension MessagePart.Body {
    /// Whether the message itself holds the bytes.
    fileprivate var isInline: Bool {
        if case .inline = self { true } else { false }
    }
}

// MARK: - Delete and receipts

extension RequestContext {
    /// `DELETE /conversations/{C}/messages/{M}`, also by its short address (platform-api §5.2.5), and
    /// `DELETE /users/{u}/messages/{M}?mode=…` (platform-api §5.14, client-api §4.2).
    func deleteMessage() async throws -> Reply {
        try await withPrecondition { (message: MessageSnapshot) in
            json(message, presentation(try perspective()))
        } change: { precondition in
            guard !isForUser else {
                let deletion = try DeletionQuery(query)
                try await store.deleteMessage(
                    message(), forAll: deletion.isForAll, by: user(), if: precondition,
                    in: application)
                return .noContent
            }
            let (message, requestedID) = (try message(), try conversationIfNamed())
            let own = try await store.deleteMessage(
                message, in: requestedID, if: precondition, in: application)
            return Reply.noContent
                .addingContentLocation(message, in: own, requestedIn: requestedID, links)
        }
    }

    /// `POST /users/{u}/messages/{M}/receipts` (platform-api §5.2.6).
    func sendReceipt(_ body: JSONValue) async throws -> Reply {
        let kind = try ReceiptJSON.read(body.asObject())
        try await store.recordReceipt(kind, of: message(), by: user(), in: application)
        return .noContent
    }

    /// `POST /users/{u}/conversations/{C}/receipts` with dense positions (Y3).
    func sendReceipts(_ body: JSONValue) async throws -> Reply {
        let receipt = try ReceiptJSON.readPositions(body.asObject())
        let known = try receipt.cursor.map { text throws(Rejection) in
            guard let cursor = FeedCursor(text) else { throw .invalid("cursor", .feedCursor) }
            return cursor
        }
        try await store.recordReceipts(
            receipt.kind, of: receipt.positions, by: user(), seenIn: conversation(),
            knownAt: known, in: application)
        return .noContent
    }

    /// `POST /users/{u}/conversations/{C}/mark_all_read` (platform-api §5.1.7).
    func markAllRead(_ body: JSONValue) async throws -> Reply {
        let position = try MarkAllReadJSON.read(body.asObject())
        let (user, requestedID) = (try user(), try conversation())
        let read = try await store.markAllRead(
            upTo: position, by: user, in: requestedID, in: application)
        return Reply(.accepted, MarkAllReadJSON.answer(read.lastRead))
            .addingContentLocation(
                read.conversation, requestedAs: requestedID, links(.user(user)))
    }
}
