public import Messaging
import SQL

/// An error: the key was used for a scheduled message or a batch, so the response to repeat has no message (platform-api
/// §1.9, rule 3).
///
/// It is an error, so that the mutation ends, and functions that send a message need no result without one.
public struct ReplayedAcceptance: Error, Equatable, Sendable {
    /// The conversation of the scheduled message or the batch.
    public let conversation: Conversation.ID
}

/// The outcome of accepting a scheduled message or a batch.
public enum Acceptance: Equatable, Sendable {
    /// The messages were sent to this conversation, or are scheduled.
    case accepted(Conversation.ID)
    /// The key was used before to send this message, which has its current state.
    case replayed(MessageSnapshot)
    /// A proposed id belongs to this message, and nothing was sent.
    case idInUse(MessageSnapshot)
}

extension MessagingStore {
    /// Schedules a message; when this returns, it is durable.
    ///
    /// - Parameters:
    ///   - draft: The message.
    ///   - conversation: The conversation, by its own id or an alias.
    ///   - schedule: When the message is due.
    ///   - key: The `If-None-Match` key; it becomes the id unless the draft proposes one.
    /// - Throws: As `sendMessage`.
    public func scheduleMessage(
        _ draft: Message.Draft, to conversation: Conversation.ID, for schedule: Schedule,
        key: Replay.Key? = nil, in application: Application.ID
    ) async throws -> Acceptance {
        let id = draft.proposedID ?? key.map(Message.ID.init) ?? environment.newID()
        let partIDs = draft.parts.map { _ in environment.newID() as MessagePart.ID }
        return try await accept(in: application) { context in
            if let key, let sent = try context.message(sentWith: key) {
                return .replayed(try context.snapshot(of: sent))
            }
            let target = try context.transaction.lockedConversation(
                conversation, toSendFrom: draft.sender, in: application)
            if draft.proposedID != nil, let holder = try context.holder(of: id) {
                return .idInUse(try context.snapshot(of: holder))
            }
            try context.schedule(
                draft, for: schedule, to: target, as: id, key: key, partIDs: partIDs)
            return .accepted(target.id)
        }
    }

    /// Sends or schedules messages, in order, all or none.
    ///
    /// - Parameters:
    ///   - batch: The messages; no two propose the same id.
    ///   - conversation: The conversation, by its own id or an alias.
    ///   - key: The `If-None-Match` key, which only detects a repeated request.
    /// - Throws: As `sendMessage`.
    public func sendBatch(
        _ batch: [Message.BatchItem], to conversation: Conversation.ID, key: Replay.Key? = nil,
        in application: Application.ID
    ) async throws -> Acceptance {
        let named = batch.map { sending in
            (
                sending: sending, id: sending.draft.proposedID ?? environment.newID(),
                partIDs: sending.draft.parts.map { _ in environment.newID() as MessagePart.ID }
            )
        }
        return try await accept(in: application) { context in
            if let key, let sent = try context.message(sentWith: key) {
                return .replayed(try context.snapshot(of: sent))
            }
            let target = try context.transaction.lockedConversationRow(
                conversation, in: application)
            for (sending, id, _) in named where sending.draft.proposedID != nil {
                guard let holder = try context.holder(of: id) else { continue }
                return .idInUse(try context.snapshot(of: holder))
            }
            for (sending, id, partIDs) in named {
                let target = try context.transaction.lockedConversation(
                    target.id, toSendFrom: sending.draft.sender, in: application)
                if let schedule = sending.schedule {
                    try context.schedule(
                        sending.draft, for: schedule, to: target, as: id, partIDs: partIDs)
                } else {
                    _ = try context.post(sending.draft, to: target, as: id, partIDs: partIDs)
                }
            }
            if let key {
                try context.record(.batchAccepted(BatchAccepted(key: key, conversation: target.id)))
            }
            return .accepted(target.id)
        }
    }

    /// Runs a mutation, and converts ``ReplayedAcceptance`` to the response that the key had before.
    private func accept(
        in application: Application.ID,
        _ body: @escaping @Sendable (MutationContext) throws -> Acceptance
    ) async throws -> Acceptance {
        do {
            return try await change(in: application, body)
        } catch let before as ReplayedAcceptance {
            return .accepted(before.conversation)
        }
    }
}

extension MutationContext {
    /// Notifies the ``ScheduledSender`` of this and other processes of a scheduled message.
    func notifySender(of message: ScheduledMessage) {
        let dueAt = min(message.dueAt, message.typingFrom ?? message.dueAt)
        transaction.afterCommit { [scheduleSignal] in scheduleSignal.signal(dueAt: dueAt) }
        transaction.notify(StoreNotification.due.subject, dueAt.milliseconds) { min($0, $1) }
    }

    fileprivate func schedule(
        _ draft: Message.Draft, for schedule: Schedule, to conversation: Conversation,
        as id: Message.ID, key: Replay.Key? = nil, partIDs: [MessagePart.ID]
    ) throws {
        let event = try conversation.scheduling(
            draft, for: schedule, hasIdentity: try hasIdentity(draft.sender, in: conversation),
            contents: try contents(of: draft.parts, in: conversation.id), limits, as: id,
            partIDs: { index in partIDs[index] }, key: key, at: now)
        try record(event)
        if case .messageScheduled(let payload) = event { notifySender(of: payload.message) }
    }

    /// Rejects a key that was used for a scheduled message or a batch; accepts one of a message.
    ///
    /// - Throws: ``ReplayedAcceptance``; `notFound` when the scheduled message was deleted or dropped since
    ///   (ruling 12).
    func rejectReusedKey(of made: (kind: Replay.Kind, object: [UInt8])) throws {
        switch made.kind {
        case .batch:
            guard let id = Conversation.ID(bytes: made.object) else { return }
            throw ReplayedAcceptance(
                conversation: try transaction.winner(of: id, in: application) ?? id)
        case .scheduled:
            guard let id = Message.ID(bytes: made.object) else { return }
            if let sent = try liveMessage(id) {
                throw ReplayedAcceptance(conversation: sent.conversation)
            }
            guard let waiting = try transaction.scheduledMessage(id, in: application),
                try transaction.isLive(waiting.conversation, in: application)
            else { throw Rejection.notFound(.message) }
            throw ReplayedAcceptance(conversation: waiting.conversation)
        case .message, .conversation, .match, .announcement: return
        }
    }
}
