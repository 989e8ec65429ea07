internal import SystemSupport

/// Where the user types at the moment, so that not every key becomes a request (K66).
final class TypingState: Sendable {
    /// The shortest time between two requests that say that the user types.
    private static let interval = Duration.milliseconds(2500)
    private let started = Locked<[Conversation.ID: ContinuousClock.Instant]>([:])

    /// Whether an action must be sent; it counts as sent then.
    func mustSend(
        _ action: TypingAction, in conversation: Conversation.ID, at now: ContinuousClock.Instant
    ) -> Bool {
        started.withLock { started in
            guard action == .started else {
                started[conversation] = nil
                return true
            }
            if let last = started[conversation], now - last < Self.interval { return false }
            started[conversation] = now
            return true
        }
    }

    /// Whether the user types in a conversation, as far as the others know.
    func hasStarted(in conversation: Conversation.ID) -> Bool {
        started.withLock { started in started[conversation] != nil }
    }
}
