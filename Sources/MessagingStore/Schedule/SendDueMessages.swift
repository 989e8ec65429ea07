public import Messaging
import SQL

extension MessagingStore {
    /// Sends what is due, of all applications, in the order of the times it is due at.
    ///
    /// What cannot be sent any more, because its conversation was deleted or its sender removed, is
    /// dropped (platform-api §5.2.1). What fails stays and is tried again with the next call.
    ///
    /// - Parameter onFault: Told of every message that failed.
    /// - Returns: When the next message is due; `nil` when none waits. With a failure it is at most
    ///   ``retryPause`` from now.
    public func sendDueMessages(
        onFault: @Sendable (any Error, Message.ID) -> Void
    ) async throws -> Timestamp? {
        let now = environment.now()
        var last: DueMessage?
        var hasFailed = false
        while true {
            let due = try await database.read { [last] transaction in
                try transaction.dueMessages(at: now, after: last, limit: 100)
            }
            for message in due {
                guard !Task.isCancelled else { return nil }
                do {
                    try await send(message)
                } catch {
                    hasFailed = true
                    onFault(error, message.id)
                }
            }
            guard let end = due.last else { break }
            last = end
        }
        let next = try await database.read { transaction in try transaction.nextDue(after: now) }
        guard hasFailed else { return next }
        let retry = Timestamp(milliseconds: now.milliseconds + Self.retryPause)
        return next.map { next in min(next, retry) } ?? retry
    }

    /// How long a message that failed is left alone, in milliseconds.
    static let retryPause: Int64 = 5000

    private func send(_ due: DueMessage) async throws {
        try await within(due.trace).change(in: due.application) { recording in
            // Another process may have sent it meanwhile.
            guard
                let message = try recording.transaction.scheduledMessage(
                    due.id, in: due.application)
            else { return }
            try recording.record(
                .scheduleEnded(
                    due.id, isSent: try recording.sendNow(message), at: recording.now))
        }
    }
}

extension Recording {
    /// - Returns: False when it cannot be sent any more; then nothing is recorded.
    fileprivate func sendNow(_ message: ScheduledMessage) throws -> Bool {
        do {
            let conversation = try transaction.lockedConversation(
                message.conversation, in: application)
            // Every part of it bears its name already.
            _ = try post(
                message.draft, to: conversation, as: message.id,
                partIDs: message.draft.parts.compactMap(\.proposedID))
            return true
        } catch is Rejection {
            return false
        }
    }
}
