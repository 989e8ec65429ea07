/// A change of a message's parts (platform-api §5.3).
public enum PartOperation: Equatable, Sendable {
    /// Adds a part after all others.
    case add(MessagePart.Draft)
    /// Replaces the type and the body of one part, which keeps its id and index.
    case replace(MessagePart.Name, MessagePart.Draft)
    /// Replaces all parts by these, 1 to 1000, in this order.
    case replaceAll([Replacement])
    /// Removes a part; the last one cannot be removed (R20).
    case remove(MessagePart.Name)

    /// A part among those that replace all others.
    public struct Replacement: Equatable, Sendable {
        /// The part to replace, or an id for a new one; `nil` for a generated id.
        fileprivate let name: MessagePart.Name?
        /// The new type and body.
        fileprivate let draft: MessagePart.Draft

        /// All members.
        public init(name: MessagePart.Name?, draft: MessagePart.Draft) {
            self.name = name
            self.draft = draft
        }
    }

    /// The drafts of the operation.
    public var drafts: [MessagePart.Draft] {
        switch self {
        case .add(let draft), .replace(_, let draft): [draft]
        case .replaceAll(let replacements): replacements.map(\.draft)
        case .remove: []
        }
    }
}

extension Message {
    /// Returns the event of changing parts.
    ///
    /// Position, sender, time of sending and receipts do not change (platform-api §5.3).
    ///
    /// - Parameters:
    ///   - partsMade: The number of parts that the message ever had.
    ///   - contents: The contents that the drafts may attach.
    ///   - newID: Creates the id of a new part, if the draft proposes none.
    /// - Throws: `notFound(.messagePart)`; `invalidOperation` for removing the last part;
    ///   `invalid("parts.id")` for two parts with the same id, or an unknown index;
    ///   `invalid("parts.content")` (R24); `invalid("parts")` above 1000 parts (R20) or for more bytes than
    ///   the limits allow (R23).
    public func changingParts(
        _ operation: PartOperation, partsMade: Int, contents: [Content.ID: Content],
        _ limits: MessagingLimits, newID: () -> MessagePart.ID, at now: Timestamp
    ) throws(Rejection) -> PartsChanged {
        let moment = max(now, updatedAt ?? sentAt)
        func part(
            _ draft: MessagePart.Draft, as id: MessagePart.ID, _ index: Int
        ) throws(Rejection) -> MessagePart {
            MessagePart(
                id: id, index: index, mimeType: draft.mimeType,
                body: try draft.body(from: contents), updatedAt: moment)
        }
        func change(
            created: [MessagePart] = [], updated: [MessagePart] = [],
            removed: [MessagePart] = [], order: [Int]? = nil
        ) throws(Rejection) -> PartsChanged {
            let change = PartsChanged(
                message: id, conversation: conversation, created: created, updated: updated,
                removed: removed.map { PartsChanged.Removed(id: $0.id, index: $0.index) },
                order: order, partsMade: partsMade + created.count, at: moment)
            try applying(change).checkParts(limits)
            return change
        }

        switch operation {
        case .add(let draft):
            return try change(created: [try part(draft, as: draft.proposedID ?? newID(), partsMade)]
            )
        case .replace(let name, let draft):
            let old = try self.part(name)
            return try change(updated: [try part(draft, as: old.id, old.index)])
        case .remove(let name):
            let old = try self.part(name)
            guard parts.count > 1 else { throw .invalidOperation(.lastPart) }
            return try change(removed: [old])
        case .replaceAll(let replacements):
            var (created, updated, order): ([MessagePart], [MessagePart], [Int]) = ([], [], [])
            for replacement in replacements {
                let old = replacement.name.flatMap { name in parts.first(where: name.names) }
                switch (old, replacement.name) {
                case (let old?, _):
                    updated.append(try part(replacement.draft, as: old.id, old.index))
                case (nil, .index?):
                    throw .invalid("parts.id", .unknownPartIndex)
                case (nil, let name):
                    let proposed = if case .id(let id) = name { id } else { newID() }
                    created.append(
                        try part(replacement.draft, as: proposed, partsMade + created.count))
                }
                order.append(old?.index ?? partsMade + created.count - 1)
            }
            guard Set(order).count == order.count else {
                throw .invalid("parts.id", .partIDTwice)
            }
            return try change(
                created: created, updated: updated,
                removed: parts.filter { part in !order.contains(part.index) },
                order: updated.isEmpty ? nil : order)
        }
    }

    /// Returns the message after a change of its parts.
    public func applying(_ change: PartsChanged) -> Message {
        let updated = Dictionary(change.updated.map { ($0.index, $0) }) { first, _ in first }
        let removed = Set(change.removed.map(\.index))
        var parts =
            parts.filter { part in !removed.contains(part.index) }
            .map { part in updated[part.index] ?? part } + change.created
        if let order = change.order {
            let ranks = Dictionary(
                order.enumerated().map { rank, index in (index, rank) }
            ) { first, _ in first }
            parts.sort { left, right in ranks[left.index] ?? 0 < ranks[right.index] ?? 0 }
        }
        var changed = self
        changed.parts = parts
        changed.updatedAt = change.at
        changed.version += 1
        return changed
    }

    /// Returns a part by its id or index.
    ///
    /// - Throws: `notFound(.messagePart)`.
    public func part(_ name: MessagePart.Name) throws(Rejection) -> MessagePart {
        guard let part = parts.first(where: name.names) else { throw .notFound(.messagePart) }
        return part
    }

    /// Checks the rules for all parts of a message together.
    ///
    /// - Throws: `invalid("parts.id")` for two parts with the same id; `invalid("parts")` for none, more than 1000
    ///   (R20), or more bytes than the limits allow (R23).
    func checkParts(_ limits: MessagingLimits) throws(Rejection) {
        guard (1...Message.partLimit).contains(parts.count) else {
            throw .invalid("parts", .partCount, .init(amount: parts.count))
        }
        guard parts.count == 1 || Set(parts.map(\.id)).count == parts.count else {
            throw .invalid("parts.id", .partIDTwice)
        }
        // Sizes of imported contents may be large enough to overflow.
        let size = parts.reduce(Int64(0)) { size, part in
            let (sum, isTooLarge) = size.addingReportingOverflow(part.size)
            return isTooLarge ? .max : sum
        }
        guard size <= limits.messageBytes else {
            throw .invalid(
                "parts", .partsSize,
                .init(amount: Int(size), limit: Int(limits.messageBytes)))
        }
    }
}
