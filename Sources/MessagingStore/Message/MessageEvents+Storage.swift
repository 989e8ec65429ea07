import Messaging

extension MessageSent: StoredEvent {
    func write(to writer: inout ByteWriter) {
        message.write(to: &writer)
        writer.write(optional: notification) { writer, json in writer.write(json) }
        writer.write(optional: key) { writer, key in writer.write(key) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try Message(from: &reader),
            notification: try reader.optional { reader in try reader.bytes() },
            key: try reader.optional { reader in try reader.id() })
    }

    func apply(to rows: Projection) throws {
        try rows.send(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        // Sending changes no earlier message.
        return []
    }

    func collect(into objects: inout ReferencedObjects) {
        objects.conversations.insert(message.conversation)
    }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        .message(try history.snapshot(of: message, isJustSent: true, at: position))
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        guard case .message(let snapshot) = event.object else { return }
        // In versions 2.0 and 3.0 the event has the id of the message (webhooks §4.1).
        try builder.add(
            .messageSent, .message(snapshot), event, in: [.v2_0, .v3_0], as: EventID(message.id))
        try builder.add(
            .messageSent, .message(snapshot), event, in: [.v1_0],
            as: builder.id(of: event, message.id.bytes))
    }
}

extension MessageScheduled: StoredEvent {
    func write(to writer: inout ByteWriter) {
        message.write(to: &writer)
        writer.write(optional: key) { writer, key in writer.write(key) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try ScheduledMessage(from: &reader),
            key: try reader.optional { reader in try reader.id() })
    }

    func apply(to rows: Projection) throws {
        try rows.schedule(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ScheduleEnded: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(message)
        writer.write(isSent)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(message: try reader.id(), isSent: try reader.flag(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.dropScheduled(message)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension BatchAccepted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(key)
        writer.write(conversation)
    }

    init(from reader: inout ByteReader) throws {
        self.init(key: try reader.id(), conversation: try reader.id())
    }

    func apply(to rows: Projection) throws {
        rows.remember(key, as: .batch, for: conversation.bytes)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension PartsChanged: MessageChange {
    func write(to writer: inout ByteWriter) {
        writer.write(message)
        writer.write(conversation)
        writer.write(each: created) { writer, part in part.write(to: &writer) }
        writer.write(each: updated) { writer, part in part.write(to: &writer) }
        writer.write(each: removed) { writer, part in
            writer.write(part.id)
            writer.write(Int64(part.index))
        }
        writer.write(optional: order) { writer, order in
            writer.write(each: order) { writer, index in writer.write(Int64(index)) }
        }
        writer.write(Int64(partsMade))
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try reader.id(), conversation: try reader.id(),
            created: try reader.each { reader in try MessagePart(from: &reader) },
            updated: try reader.each { reader in try MessagePart(from: &reader) },
            removed: try reader.each { reader in
                Removed(id: try reader.id(), index: Int(try reader.number()))
            },
            order: try reader.optional { reader in
                try reader.each { reader in Int(try reader.number()) }
            },
            partsMade: Int(try reader.number()), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.apply(self)
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        if case .message(let snapshot) = event.object {
            try builder.add(.messageUpdated, .message(snapshot), event)
        }
        for (topic, parts) in [(WebhookTopic.partCreated, created), (.partUpdated, updated)] {
            for part in parts {
                try builder.add(
                    topic, .part(part, of: message, in: conversation), event,
                    as: builder.id(of: event, part.id.bytes))
            }
        }
        for part in removed {
            try builder.add(
                .partDeleted, .deletedPart(part, of: message, in: conversation), event,
                as: builder.id(of: event, part.id.bytes))
        }
    }
}

extension ReceiptsRecorded: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(user)
        writer.write(kind.rawValue)
        writer.write(positions.text)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), user: try reader.user(),
            kind: try reader.valid(
                Receipts.Kind(rawValue: try reader.text()), "kind of a receipt"),
            positions: try reader.valid(
                IntervalSet(text: try reader.text()), "positions of a receipt"),
            at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.record(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }

    func collect(into objects: inout ReferencedObjects) {
        objects.conversations.insert(conversation)
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        // The receipts of version 1.0, one for each message, are added by the builder, because there may be
        // more than one page holds.
        guard let first = positions.intervals.first, let last = positions.intervals.last else {
            return
        }
        // A range, although some positions between may not be new: their messages were received or read before.
        try builder.add(
            .receiptCreated, .receipt(kind, first.lowerBound...last.upperBound, in: conversation),
            event)
    }
}

extension MessageHidden: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(message)
        writer.write(conversation)
        writer.write(position)
        writer.write(user)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try reader.id(), conversation: try reader.id(),
            position: try reader.position(), user: try reader.user(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.hide(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(conversation, application)]
    }
}

extension MessageDeleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        message.write(to: &writer)
        writer.write(each: recipients) { writer, recipient in
            writer.write(recipient.user)
            writer.write(recipient.status.rawValue)
        }
        writer.write(optional: recipientCounts) { writer, counts in
            for status in RecipientStatus.allCases { writer.write(counts[status]) }
        }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try Message(from: &reader),
            recipients: try reader.each { reader in
                Recipient(
                    user: try reader.user(),
                    status: try reader.valid(
                        RecipientStatus(rawValue: try reader.text()), "status of a recipient"))
            },
            recipientCounts: try reader.optional { reader in
                RecipientCounts(
                    sent: try reader.number(), delivered: try reader.number(),
                    read: try reader.number())
            }, at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        rows.save(message)
        try rows.remember(deleted: message)
        try rows.delete(message)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.messages(message.conversation, application)]
    }

    func addWebhookEvents(of event: ResolvedEvent, to builder: inout WebhookEventBuilder) throws {
        let snapshot = try builder.history.snapshot(of: self, at: event.recorded.position)
        try builder.add(.messageDeleted, .message(snapshot), event)
    }
}
