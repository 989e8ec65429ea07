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

/// Which other users type at the moment. Each state ends by itself (K66): the signal that ends it may be lost.
final class ReceivedTyping: Sendable {
    private struct Place: Hashable {
        let user: UserID
        let conversation: Conversation.ID
    }

    private struct State {
        var ends: [Place: (number: Int, timer: Task<Void, Never>)] = [:]
        var last = 0
    }

    private let signals: Publisher<Signal>
    private let duration: Duration
    private let state = Locked(State())

    /// - Parameters:
    ///   - signals: Publishes what is received, and the ends.
    ///   - duration: How long a state lasts that is not repeated.
    init(_ signals: Publisher<Signal>, lasting duration: Duration = .seconds(6)) {
        self.signals = signals
        self.duration = duration
    }

    /// Publishes a signal. The end of a state that has ended already is published once.
    func receive(_ signal: Signal) {
        guard case .typing(let action, let user, let conversation) = signal else {
            return signals.publish(signal)
        }
        let place = Place(user: user, conversation: conversation)
        let isNew = state.withLock { state -> Bool in
            let before = state.ends.removeValue(forKey: place)
            before?.timer.cancel()
            guard action != .finished else { return before != nil }
            state.last += 1
            let timer = Task { [weak self, duration, number = state.last] in
                try? await Task.sleep(for: duration)
                self?.end(place, number)
            }
            state.ends[place] = (state.last, timer)
            return true
        }
        if isNew { signals.publish(signal) }
    }

    /// Ends all states: nothing is received any more.
    func endAll() {
        let ends = state.withLock { state in
            defer { state.ends = [:] }
            return state.ends
        }
        for (place, end) in ends {
            end.timer.cancel()
            publishEnd(of: place)
        }
    }

    /// Ends a state, unless it was repeated or has ended.
    private func end(_ place: Place, _ number: Int) {
        let hasEnded = state.withLock { state in
            guard state.ends[place]?.number == number else { return false }
            state.ends[place] = nil
            return true
        }
        if hasEnded { publishEnd(of: place) }
    }

    private func publishEnd(of place: Place) {
        signals.publish(.typing(.finished, by: place.user, in: place.conversation))
    }
}
