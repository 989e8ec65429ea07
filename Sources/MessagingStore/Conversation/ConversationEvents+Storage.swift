import Messaging

extension ConversationCreated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        conversation.write(to: &writer)
        writer.write(optional: key) { writer, key in writer.write(key) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try Conversation(from: &reader),
            key: try reader.optional { reader in try reader.id() })
    }

    func apply(to rows: Projection) throws {
        try rows.create(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation.id, application)]
    }

    func collect(into objects: inout ReferencedObjects) {
        objects.users.formUnion(
            ConversationSnapshot.shown(conversation.participants, isWide: conversation.isWide))
    }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        .conversation(try history.snapshot(of: conversation, at: position))
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        guard case .conversation(let snapshot) = event.object else { return }
        try builder.add(.conversationCreated, .conversation(snapshot), event)
    }
}

extension ConversationMatched: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(optional: key) { writer, key in writer.write(key) }
        writer.write(optional: alias) { writer, alias in writer.write(alias) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), key: try reader.optional { reader in try reader.id() },
            alias: try reader.optional { reader in try reader.id() })
    }

    func apply(to rows: Projection) throws {
        try rows.remember(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }
}

extension ConversationShown: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(each: users) { writer, user in writer.write(user) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), users: try reader.each { reader in try reader.user() },
            at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.show(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }
}

extension ConversationAnnounced: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(conversation: try reader.id(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.announce(conversation)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }
}

extension ConversationHidden: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(user)
        writer.write(optional: upTo) { writer, last in writer.write(last) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), user: try reader.user(),
            upTo: try reader.optional { reader in try reader.position() },
            at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.hide(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }
}

extension ParticipantsChanged: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(participants)
        writer.write(isWide)
        writer.write(each: added) { writer, user in writer.write(user) }
        writer.write(each: removed) { writer, user in writer.write(user) }
        writer.write(after)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), participants: try reader.participants(),
            isWide: try reader.flag(), added: try reader.each { reader in try reader.user() },
            removed: try reader.each { reader in try reader.user() },
            after: try reader.position(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.apply(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }

    func collect(into objects: inout ReferencedObjects) {
        objects.conversations.insert(conversation)
        objects.users.formUnion(
            added + removed + ConversationSnapshot.shown(participants, isWide: isWide))
    }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        try history.object(conversation, at: position)
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        guard case .conversation(let snapshot) = event.object else { return }
        try builder.add(.participantsChanged, .conversation(snapshot), event)
        for (topic, users) in [
            (WebhookTopic.participationCreated, added), (.participationDeleted, removed),
        ] where !users.isEmpty {
            let changes = try users.map { user in
                try builder.history.identity(of: user, at: event.recorded.position)
            }
            try builder.add(
                topic, .participation(snapshot, changes: changes), event,
                as: builder.id(of: event, Array(topic.rawValue.utf8)))
        }
    }
}

extension MetadataChanged: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writes.write(to: &writer)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), writes: try Metadata(from: &reader),
            at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.apply(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }

    func collect(into objects: inout ReferencedObjects) {
        objects.conversations.insert(conversation)
    }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        try history.object(conversation, at: position)
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        guard case .conversation(let snapshot) = event.object else { return }
        try builder.add(.metadataChanged, .conversation(snapshot), event)
    }
}

extension ConversationMerged: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(winner)
        writer.write(optional: loser) { writer, id in writer.write(id) }
        writer.write(each: aliases) { writer, id in writer.write(id) }
        metadata.write(to: &writer)
        writer.write(isAnnounced)
        writer.write(lastPosition)
        writer.write(optional: unsortedFrom) { writer, moment in writer.write(moment) }
        writer.write(each: relocations) { writer, relocation in
            // It belonged to the winner or to the loser, and a flag is shorter than an id.
            writer.write(relocation.conversation == winner)
            writer.write(relocation.from)
            writer.write(relocation.through.number - relocation.from.number)
            writer.write(relocation.shift)
        }
        writer.write(each: views) { writer, entry in
            writer.write(entry.user)
            entry.view.write(to: &writer)
        }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        let winner: Conversation.ID = try reader.id()
        let loser: Conversation.ID? = try reader.optional { reader in try reader.id() }
        self.init(
            winner: winner, loser: loser,
            aliases: try reader.each { reader in try reader.id() },
            metadata: try Metadata(from: &reader), isAnnounced: try reader.flag(),
            lastPosition: try reader.position(),
            unsortedFrom: try reader.optional { reader in try reader.timestamp() },
            relocations: try reader.each { reader in
                let isWinners = try reader.flag()
                let from = try reader.number()
                let through = try reader.sum(from)
                return Relocation(
                    conversation: isWinners
                        ? winner : try reader.valid(loser, "conversation of a relocation"),
                    from: Position(from), through: Position(through),
                    to: Position(try reader.sum(from)))
            },
            views: try reader.each { reader in
                View(try reader.user(), try MergeableView(from: &reader))
            }, at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.merge(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [winner, loser].compactMap(\.self).map { id in .messages(id, application) }
    }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        try history.object(winner, at: position)
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        // Only the last of the events that sort the messages is reported.
        guard loser != nil || unsortedFrom == nil, case .conversation(let snapshot) = event.object
        else { return }
        try builder.add(.conversationMerged, .merged(snapshot, aliases: aliases), event)
        // Receivers that do not subscribe to merges receive the resulting metadata, unless no metadata was ever
        // written.
        guard loser != nil, metadata.latestWrite != nil else { return }
        try builder.add(
            .metadataChanged, .conversation(snapshot), event,
            as: builder.id(of: event, Array(WebhookTopic.metadataChanged.rawValue.utf8)))
    }
}

extension ConversationDeleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        conversation.write(to: &writer)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(conversation: try Conversation(from: &reader), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.delete(conversation.id, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation.id, application)]
    }

    func collect(into objects: inout ReferencedObjects) {
        objects.users.formUnion(
            ConversationSnapshot.shown(conversation.participants, isWide: conversation.isWide))
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        let snapshot = try builder.history.snapshot(of: conversation, at: event.recorded.position)
        try builder.add(.conversationDeleted, .conversation(snapshot), event)
    }
}
