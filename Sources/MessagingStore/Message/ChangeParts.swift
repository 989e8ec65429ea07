public import Messaging
import SQL

/// A part with the message it belongs to.
public struct PartSnapshot: Equatable, Sendable {
    /// The message as it is now.
    public let message: Message
    /// One of its parts.
    public let part: MessagePart
}

extension MessagingStore {
    /// Adds a part to a message (platform-api 5.3).
    ///
    /// - Returns: `created`, or `idInUse` with the part of the message that has the proposed id.
    /// - Throws: `Rejection`: `notFound` of the conversation, the user or the message; `objectDeleted`,
    ///   `accessDenied`, `notSender`; what `Message.changingParts` rejects.
    public func addPart(
        _ draft: MessagePart.Draft, to id: Message.ID, by reach: MessageReach,
        in application: Application.ID
    ) async throws -> Creation<PartSnapshot> {
        let newID: MessagePart.ID = environment.newID()
        return try await change(in: application) { recording in
            let message = try recording.transaction.messageToChange(
                id, by: reach, in: application)
            return try recording.addPart(draft, to: message, by: reach.viewer, newID: newID)
        }
    }

    /// Replaces or removes parts of a message (platform-api 5.3).
    ///
    /// - Parameter demand: What the message's version must be (X4).
    /// - Returns: The message after it.
    /// - Throws: `Rejection`: `notFound` of the conversation, the user, the message or the part;
    ///   `objectDeleted`, `accessDenied`, `notSender`; what `Message.changingParts` rejects;
    ///   `VersionMismatch<MessageSnapshot>`.
    @discardableResult
    public func changeParts(
        _ operation: PartOperation, of id: Message.ID, by reach: MessageReach,
        if demand: VersionDemand = .any, in application: Application.ID
    ) async throws -> Message {
        let newIDs = operation.drafts.map { _ in environment.newID() as MessagePart.ID }
        return try await change(in: application) { recording in
            let message = try recording.transaction.messageToChange(
                id, by: reach, in: application)
            try demand.check(message.version) {
                try recording.current(message, by: reach)
            }
            return message.applying(
                try recording.change(operation, of: message, by: reach.viewer, newIDs: newIDs))
        }
    }

    /// A message with its parts, without what others have made of it.
    ///
    /// - Throws: `Rejection.notFound` of the conversation, the user or the message, `objectDeleted`.
    public func parts(
        of id: Message.ID, by reach: MessageReach, in application: Application.ID
    ) async throws -> Message {
        try await database.read { transaction in
            try transaction.message(id, by: reach, in: application)
        }
    }
}

extension Recording {
    /// The message as its caller sees it.
    fileprivate func current(_ message: Message, by reach: MessageReach) throws -> MessageSnapshot {
        let found = try transaction.snapshots(
            of: [message], seenBy: reach.viewer, in: application)
        guard let snapshot = found.first else {
            throw StoreFault.unreadable("snapshot of a message")
        }
        return snapshot
    }

    func addPart(
        _ draft: MessagePart.Draft, to message: Message, by user: UserID?, newID: MessagePart.ID
    ) throws -> Creation<PartSnapshot> {
        let id = draft.proposedID ?? newID
        if let holder = message.parts.first(where: { part in part.id == id }) {
            return .idInUse(PartSnapshot(message: message, part: holder))
        }
        let after = message.applying(try change(.add(draft), of: message, by: user, newIDs: [id]))
        return .created(PartSnapshot(message: after, part: try after.part(.id(id))))
    }

    /// - Parameter newIDs: As many as the operation has drafts.
    func change(
        _ operation: PartOperation, of message: Message, by user: UserID?,
        newIDs: [MessagePart.ID]
    ) throws -> PartsChanged {
        var unused = newIDs[...]
        let change = try message.changingParts(
            operation, made: try partsMade(of: message),
            contents: try contents(of: operation.drafts, readableBy: user),
            limits, newID: { unused.removeFirst() }, at: now)
        try record(.partsChanged(change))
        return change
    }

    /// The contents drafts attach, those that exist.
    ///
    /// - Parameter user: Who attaches them, and only what he may read himself (R86): whoever sees his
    ///   message reads them. `nil` for the system, which reads everything.
    func contents(
        of drafts: [MessagePart.Draft], readableBy user: UserID? = nil
    ) throws -> [Content.ID: Content] {
        var contents: [Content.ID: Content] = [:]
        for case .content(let id, _) in drafts.map(\.body) where contents[id] == nil {
            if let user, try !transaction.mayRead(id, user, in: application) { continue }
            contents[id] = try transaction.content(id, in: application)
        }
        return contents
    }

    private func partsMade(of message: Message) throws -> Int {
        let made = try transaction.first(
            """
            SELECT parts_made FROM messages
            WHERE application = \(application) AND id = \(message.id)
            """
        ) { row in try row.optionalInt64(0) }
        return (made ?? nil).map(Int.init) ?? message.parts.count
    }
}
