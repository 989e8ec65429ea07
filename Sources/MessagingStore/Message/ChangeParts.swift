public import Messaging
import SQL

/// A part and the message it belongs to.
public struct PartSnapshot: Equatable, Sendable {
    /// The message in its current state.
    public let message: Message
    /// The part.
    public let part: MessagePart
}

extension MessagingStore {
    /// Adds a part to a message (platform-api 5.3).
    ///
    /// - Parameter conversation: The conversation that the message must belong to, by its own id or an alias; `nil` for
    ///   any. It is ignored for a user.
    /// - Returns: `created`, or `idInUse` with the part of the message that has the proposed id.
    /// - Throws: `Rejection`: `notFound` of the conversation, the user or the message; `objectDeleted`,
    ///   `accessDenied`, `notSender`; what `Message.changingParts` rejects.
    public func addPart(
        _ draft: MessagePart.Draft, to id: Message.ID, in conversation: Conversation.ID?,
        by perspective: Perspective, in application: Application.ID
    ) async throws -> CreationOutcome<PartSnapshot> {
        let newID: MessagePart.ID = environment.newID()
        return try await changeMessage(id, in: conversation, by: perspective, in: application) {
            context, message in
            try context.addPart(draft, to: message, by: perspective, newID: newID)
        }
    }

    /// Replaces or removes parts of a message (platform-api 5.3).
    ///
    /// - Parameters:
    ///   - conversation: As in ``addPart(_:to:in:by:in:)``.
    ///   - demand: The required version of the message (X4).
    /// - Returns: The changed message.
    /// - Throws: `Rejection`: `notFound` of the conversation, the user, the message or the part;
    ///   `objectDeleted`, `accessDenied`, `notSender`; what `Message.changingParts` rejects;
    ///   `VersionMismatch<MessageSnapshot>`.
    @discardableResult
    public func changeParts(
        _ operation: PartOperation, of id: Message.ID, in conversation: Conversation.ID?,
        by perspective: Perspective, if demand: VersionPrecondition = .any,
        in application: Application.ID
    ) async throws -> Message {
        let newIDs = operation.drafts.map { _ in environment.newID() as MessagePart.ID }
        return try await changeMessage(id, in: conversation, by: perspective, in: application) {
            context, message in
            try demand.check(message.version) {
                try context.current(message, by: perspective)
            }
            return message.applying(
                try context.change(operation, of: message, by: perspective, newIDs: newIDs))
        }
    }

    /// Runs a change of a message's parts, after it has checked that the caller may make it.
    private func changeMessage<Value: Sendable>(
        _ id: Message.ID, in conversation: Conversation.ID?, by perspective: Perspective,
        in application: Application.ID,
        _ body: @escaping @Sendable (MutationContext, Message) throws -> Value
    ) async throws -> Value {
        try await change(
            in: application,
            prefetching: { transaction in
                try transaction.prefetchPartChange(
                    of: id, in: conversation, by: perspective, in: application)
            }
        ) { context in
            let message = try context.transaction.messageToChange(
                id, in: conversation, by: perspective, in: application)
            return try body(context, message)
        }
    }

    /// A message with its parts, without receipts.
    ///
    /// - Parameter conversation: As in ``addPart(_:to:in:by:in:)``.
    /// - Throws: `Rejection.notFound` of the conversation, the user or the message, `objectDeleted`.
    public func parts(
        of id: Message.ID, in conversation: Conversation.ID?, by perspective: Perspective,
        in application: Application.ID
    ) async throws -> Message {
        try await database.read { transaction in
            try transaction.message(id, in: conversation, by: perspective, in: application)
        }
    }
}

extension MutationContext {
    /// The message as the caller sees it.
    fileprivate func current(_ message: Message, by perspective: Perspective) throws
        -> MessageSnapshot
    {
        let found = try transaction.snapshots(
            of: [message], seenBy: perspective, in: application)
        guard let snapshot = found.first else {
            throw StoreFault.unreadable("snapshot of a message")
        }
        return snapshot
    }

    /// - Parameter newID: The id of the part, unless the draft proposes one.
    func addPart(
        _ draft: MessagePart.Draft, to message: Message, by perspective: Perspective,
        newID: MessagePart.ID
    ) throws -> CreationOutcome<PartSnapshot> {
        let id = draft.proposedID ?? newID
        if let holder = message.parts.first(where: { part in part.id == id }) {
            return .idInUse(PartSnapshot(message: message, part: holder))
        }
        let after = message.applying(
            try change(.add(draft), of: message, by: perspective, newIDs: [id]))
        return .created(PartSnapshot(message: after, part: try after.part(.id(id))))
    }

    /// Decides and records a change of a message's parts.
    ///
    /// - Parameter newIDs: As many as the operation has drafts.
    func change(
        _ operation: PartOperation, of message: Message, by perspective: Perspective,
        newIDs: [MessagePart.ID]
    ) throws -> PartsChanged {
        var unused = newIDs[...]
        let change = try message.changingParts(
            operation, partsMade: try partsMade(of: message),
            contents: try contents(
                of: operation.drafts, attachedBy: perspective, in: message.conversation),
            limits, newID: { unused.removeFirst() }, at: now)
        try record(.partsChanged(change))
        return change
    }

    /// The existing contents among those that drafts attach to a message of a conversation.
    ///
    /// - Parameter perspective: A user may attach contents they may read (ruling 47), because the recipients of the
    ///   message can read them; the system those of the conversation (R24).
    func contents(
        of drafts: [MessagePart.Draft], attachedBy perspective: Perspective = .system,
        in conversation: Conversation.ID
    ) throws -> [Content.ID: Content] {
        var contents: [Content.ID: Content] = [:]
        for case .content(let id, _) in drafts.map(\.body) where contents[id] == nil {
            guard let content = try transaction.content(id, in: application) else { continue }
            let isAllowed =
                switch perspective {
                case .system: try transaction.isUsable(content, in: conversation, of: application)
                case .user(let user): try transaction.mayRead(id, user, in: application)
                }
            if isAllowed { contents[id] = content }
        }
        return contents
    }

    /// The number of parts that a message ever had.
    private func partsMade(of message: Message) throws -> Int {
        let made = try transaction.queryPartsMade(of: message.id, in: application).first()
        return (made ?? nil).map(Int.init) ?? message.parts.count
    }
}

extension Transaction {
    /// Queries ahead what a change of a message's parts depends on.
    fileprivate func prefetchPartChange(
        of id: Message.ID, in conversation: Conversation.ID?, by perspective: Perspective,
        in application: Application.ID
    ) throws {
        try prefetchMessage(id, in: application)
        _ = try queryPartsMade(of: id, in: application)
        _ = try conversation.map { named in try queryLocked(named, in: application) }
        guard let user = perspective.user else { return }
        try prefetchView(of: id, by: user, in: application)
    }

    /// Queries how many parts a message ever had; `nil` until its parts are changed for the first time.
    fileprivate func queryPartsMade(
        of id: Message.ID, in application: Application.ID
    ) throws -> DeferredRows<Int64?> {
        try query(
            """
            SELECT parts_made FROM messages
            WHERE application = \(application) AND id = \(id)
            """,
            as: Self.partsMade(of: id, in: application)
        ) { row in try row.optionalInt64(0) }
    }

    /// The cache key of the number of parts that a message ever had.
    fileprivate static func partsMade(
        of id: Message.ID, in application: Application.ID
    ) -> RowCacheKey<Int64?> {
        RowCacheKey(of: [.message(id, in: application)], aspect: Array("parts made".utf8))
    }
}

extension Projection {
    /// Writes changed parts; a content that no part uses any more is dropped (R24).
    func apply(_ change: PartsChanged) throws {
        guard let before = try transaction.message(change.message, in: application) else { return }
        save(before)
        let gone = change.removed.map(\.index)
        let contents = before.contents(at: gone + change.updated.map(\.index))
        for index in gone {
            try transaction.execute(
                """
                DELETE FROM parts
                WHERE application = \(application) AND message = \(change.message)
                    AND part_index = \(index)
                """, changing: [.message(change.message, in: application, "parts")])
        }
        for part in change.updated { try update(part, of: change) }
        for part in change.created {
            try insert(part, of: change.message, in: change.conversation)
        }
        for (place, index) in (change.order ?? []).enumerated() {
            try move(index, to: Int64(place), in: change.message)
        }
        try release(contents, in: change.conversation)
        try transaction.execute(
            """
            UPDATE messages SET
                updated_at = \(change.at), parts_made = \(change.partsMade), version = version + 1,
                changed = \(position),
                weight = (
                    SELECT CAST(SUM(
                        COALESCE(LENGTH(p.body), 0) + LENGTH(p.mime_type) + \(MessagePart.frame)
                    ) AS BIGINT) FROM parts p
                    WHERE p.application = messages.application AND p.message = messages.id
                )
            WHERE application = \(application) AND id = \(change.message)
            """,
            changing: [
                .message(change.message, in: application),
                .message(change.message, in: application, "parts"),
            ])
        transaction.cache(
            before.applying(change), for: Message.cacheKey(change.message, in: application))
        transaction.cache(
            Int64(change.partsMade), for: Transaction.partsMade(of: change.message, in: application)
        )
    }

    func insert(
        _ part: MessagePart, of message: Message.ID, in conversation: Conversation.ID
    ) throws {
        transaction.add(
            row(of: part, of: message), to: "parts", keys: application.bytes + message.bytes,
            by: Self.parts)
        try use(part.columns.content, in: conversation)
    }

    func row(of part: MessagePart, of message: Message.ID) -> InsertedRow {
        let (body, content) = part.columns
        return """
            (\(application), \(message), \(part.index), \(part.id), \(part.mimeType), \(body),
            \(content), \(part.size), \(part.updatedAt))
            """
    }

    static let parts = Insertion(
        """
        INSERT INTO parts (
            application, message, part_index, id, mime_type, body, content, size, updated_at
        ) VALUES
        """)

    private func update(_ part: MessagePart, of change: PartsChanged) throws {
        let (body, content) = part.columns
        try transaction.execute(
            """
            UPDATE parts SET
                mime_type = \(part.mimeType), body = \(body), content = \(content),
                size = \(part.size), updated_at = \(part.updatedAt)
            WHERE application = \(application) AND message = \(change.message)
                AND part_index = \(part.index)
            """, changing: [.message(change.message, in: application, "parts")])
        try use(content, in: change.conversation)
    }

    /// Sets the index of a part in the order that the caller chose. Parts added later come last, because their creation
    /// numbers are greater than every index.
    func move(_ index: Int, to place: Int64, in message: Message.ID) throws {
        try transaction.execute(
            """
            UPDATE parts SET place = \(place)
            WHERE application = \(application) AND message = \(message)
                AND part_index = \(index)
            """, changing: [.message(message, in: application, "parts")])
    }
}

extension Message {
    /// The contents that parts use, once for each use.
    func contents(at indexes: [Int]) -> [Content.ID] {
        let wanted = Set(indexes)
        return parts.filter { part in wanted.contains(part.index) }.compactMap(\.columns.content)
    }
}

extension MessagePart {
    /// The values of its columns: bytes, or the content that has them.
    fileprivate var columns: (body: [UInt8]?, content: Content.ID?) {
        switch body {
        case .inline(let bytes): (bytes, nil)
        case .content(let content, _): (nil, content)
        }
    }
}
