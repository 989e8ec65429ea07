import JSON
import Messaging
import MessagingStore
import MessagingWire
import SystemSupport

/// Typing and presence of the users of all applications (client-api §5.7, §5.8), in memory only.
///
/// A signal that a user sends to this process goes to the readers of this process and to the other processes of the
/// database, which send it to theirs. Each process has the presence of others from these signals: a process names its
/// connected users again every half minute, and users that it has not named for 90 seconds count as disconnected.
final class LiveSignals: LiveFeedObserver {
    private struct TypingKey: Hashable {
        let application: Application.ID
        let conversation: Conversation.ID
        let user: UserID
    }

    private struct Typing {
        let action: TypingAction
        let since: ContinuousClock.Instant
        /// The number of the signal: a later one ends the timer of an earlier one.
        let number: UInt64
        /// Whether the user signals it to another process, which also ends it.
        let isElsewhere: Bool
        /// The end of the log when the user signalled it: messages up to there do not end it.
        let position: LogPosition
    }

    private struct PresenceKey: Hashable {
        let application: Application.ID
        let user: UserID
    }

    private struct Entry {
        /// What the user has chosen last, and when.
        var chosen = PresenceStatus.available
        var chosenAt = Timestamp(milliseconds: 0)
        /// Until when the user counts as connected without a connection.
        var graceEnd = ContinuousClock.now
        /// The other processes with a connection of the user, and until when that is known.
        var elsewhere: [String: ContinuousClock.Instant] = [:]
        /// What was sent to others last.
        var shown = PresenceStatus.offline
        var changedAt = Timestamp(milliseconds: 0)
        var lastSeenAt: Timestamp?
        /// Whether a task examines the user when the time without a connection ends.
        var isTimed = false
    }

    private struct State {
        var typing: [TypingKey: Typing] = [:]
        var lastNumber: UInt64 = 0
        /// What is still to be sent about the typing of a user, with the number of its last signal.
        var sending: [TypingKey: (number: UInt64, task: Task<Void, Never>)] = [:]
        var presence: [PresenceKey: Entry] = [:]
        var isRefreshing = false

        /// Stores what a user does now.
        ///
        /// - Returns: The number of the signal.
        mutating func note(
            _ action: TypingAction, _ key: TypingKey, at position: LogPosition, isElsewhere: Bool
        ) -> UInt64 {
            lastNumber += 1
            typing[key] =
                action == .finished
                ? nil
                : Typing(
                    action: action, since: .now, number: lastNumber, isElsewhere: isElsewhere,
                    position: position)
            return lastNumber
        }
    }

    /// How long a repetition of a state of typing is ignored, in milliseconds.
    private static let repetition: Int64 = 1000
    /// How often a process names its users, and how long it is believed, in milliseconds.
    private static let (refresh, belief): (Int64, Int64) = (30_000, 90_000)
    /// The most users and typing states that are stored; beyond it users that are offline are removed.
    private static let capacity = 100_000

    private let store: MessagingStore
    private let feeds: LiveFeeds
    /// How long a state of typing lasts, in milliseconds.
    private let step: Int64
    /// How long a user without a connection stays present, in milliseconds.
    private let grace: Int64
    private let clock: @Sendable () -> Timestamp
    private let onFault: @Sendable (any Error) -> Void
    /// Names this process among those of the database.
    private let process = String(UInt64.random(in: .min ... .max), radix: 16)
    private let state = Locked(State())

    init(
        store: MessagingStore, feeds: LiveFeeds, step: Int64, grace: Int64,
        clock: @escaping @Sendable () -> Timestamp,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.feeds = feeds
        self.step = step
        self.grace = grace
        self.clock = clock
        self.onFault = onFault
        feeds.notify(self)
    }

    private func perform(_ work: @escaping @Sendable () async throws -> Void) {
        Task { [onFault] in
            do { try await work() } catch { onFault(error) }
        }
    }

    /// Performs work after the work of earlier signals of the same user in the same conversation, so that they arrive in
    /// their order.
    private func perform(_ key: TypingKey, _ work: @escaping @Sendable () async throws -> Void) {
        state.withLock { state in
            state.lastNumber += 1
            let (number, previous) = (state.lastNumber, state.sending[key]?.task)
            let task = Task { [self] in
                await previous?.value
                do { try await work() } catch { onFault(error) }
                self.state.withLock { state in
                    if state.sending[key]?.number == number { state.sending[key] = nil }
                }
            }
            state.sending[key] = (number, task)
        }
    }
}

// MARK: - Typing

extension LiveSignals {
    /// Tells the other participants what a user does, who may do so. Without repetition a state is followed by the next
    /// one.
    ///
    /// - Parameters:
    ///   - isPassed: Whether the other processes are told; otherwise they know it too.
    ///   - message: A message that ends what the user signalled before it, and nothing else; `nil` for what the user does.
    func type(
        _ action: TypingAction, by user: UserID, in conversation: Conversation.ID,
        of application: Application.ID, isPassed: Bool = true, endedBy message: LogPosition? = nil
    ) {
        let key = TypingKey(application: application, conversation: conversation, user: user)
        let position = max(endOfLog(of: application), message ?? .start)
        let number = state.withLock { state -> UInt64? in
            if let known = state.typing[key] {
                if let message, known.position >= message { return nil }
                let isRepeated = .now - known.since < .milliseconds(Self.repetition)
                if known.action == action, isRepeated, !known.isElsewhere { return nil }
            } else if message != nil {
                return nil
            } else if action == .finished || state.typing.count >= Self.capacity {
                // Nothing follows; receivers end a state themselves.
                return 0
            }
            return state.note(action, key, at: position, isElsewhere: false)
        }
        guard let number else { return }
        perform(key) { [self] in
            try await tell(action, by: user, in: conversation, of: application, after: position)
            guard isPassed else { return }
            try await pass(application) { writer in
                writer.member("conversation", conversation.uuid)
                writer.member("user", user.text)
                writer.member("action", action.rawValue)
                writer.member("position", position.number)
                if let message { writer.member("message", message.number) }
            }
        }
        guard let next = action.next, number > 0 else { return }
        Task { [weak self, step] in
            await pause(milliseconds: step)
            let isCurrent = self?.state.withLock { state in state.typing[key]?.number == number }
            if isCurrent == true {
                self?.type(next, by: user, in: conversation, of: application)
            }
        }
    }

    /// Notes that a user has sent a message to this process, which ends what the user typed before.
    func sent(by user: UserID, in conversation: Conversation.ID, of application: Application.ID) {
        sent(by: user, in: conversation, of: application, at: endOfLog(of: application))
    }

    /// Notes that a user has sent a message to any process, which ends what the user typed before.
    func sent(
        by user: UserID, in conversation: Conversation.ID, of application: Application.ID,
        at position: LogPosition
    ) {
        type(.finished, by: user, in: conversation, of: application, endedBy: position)
    }

    private func endOfLog(of application: Application.ID) -> LogPosition {
        store.signal.latest(in: application) ?? .start
    }

    /// Shows a user as typing until a scheduled message is due (platform-api §5.2.1). All processes do so for their own
    /// readers; the message ends it.
    func type(
        by user: UserID, in conversation: Conversation.ID, of application: Application.ID,
        until due: Timestamp
    ) {
        Task { [weak self, step, clock] in
            while clock() < due, let self {
                type(.started, by: user, in: conversation, of: application, isPassed: false)
                await pause(milliseconds: min(step / 2, due.milliseconds - clock().milliseconds))
            }
        }
    }

    /// Stores what a user has signalled to another process, which sends the next states as well. It is removed when that
    /// process would have ended it.
    ///
    /// - Parameters:
    ///   - position: The end of the log that the other process knew, possibly before this one.
    ///   - message: A message that ends what was signalled before it, and nothing else.
    /// - Returns: Whether the readers of this process are to be told: not of the end of a state that has ended here.
    private func noteElsewhere(
        _ action: TypingAction, _ key: TypingKey, at position: LogPosition,
        endedBy message: LogPosition?
    ) -> Bool {
        let number = state.withLock { state -> UInt64? in
            if let message, let known = state.typing[key], known.position >= message { return nil }
            guard
                state.typing[key] != nil
                    || action != .finished && state.typing.count < Self.capacity
            else { return nil }
            return state.note(action, key, at: position, isElsewhere: true)
        }
        guard let number else { return action != .finished }
        guard action != .finished else { return true }
        Task { [weak self, step] in
            await pause(milliseconds: 2 * step)
            self?.state.withLock { state in
                if state.typing[key]?.number == number { state.typing[key] = nil }
            }
        }
        return true
    }

    private func tell(
        _ action: TypingAction, by user: UserID, in conversation: Conversation.ID,
        of application: Application.ID, after position: LogPosition
    ) async throws {
        let feed = feeds.feed(of: application)
        let users = feed.users
        guard !users.subtracting([user]).isEmpty else { return }
        let audience = try await store.typingAudience(
            of: user, in: conversation, among: users, in: application)
        feed.signal(
            .typing(action, by: audience.sender, in: conversation), to: audience.users,
            after: position)
    }
}

// MARK: - Presence

extension LiveSignals {
    /// Changes the presence of a user; `nil` restores what the user has chosen last.
    func setPresence(
        _ status: PresenceStatus?, of user: UserID, in application: Application.ID
    ) {
        let key = PresenceKey(application: application, user: user)
        let now = clock()
        state.withLock { state in
            if state.presence.count >= Self.capacity {
                state.presence = state.presence.filter { _, entry in entry.shown != .offline }
            }
            guard state.presence[key] != nil || state.presence.count < Self.capacity else { return }
            var entry = state.presence[key] ?? Entry()
            if let status { entry.chosen = status }
            entry.chosenAt = now
            entry.graceEnd = .now + .milliseconds(grace)
            state.presence[key] = entry
        }
        examine(key)
        passPresence(of: key)
        examineLater(key)
        refresh()
    }

    /// The presence of some users as others see it.
    func presence(of users: some Sequence<UserID>, in application: Application.ID) -> [Presence] {
        state.withLock { state in
            users.map { user in
                let entry = state.presence[PresenceKey(application: application, user: user)]
                return Presence(
                    user: user, status: entry?.shown ?? .offline, lastSeenAt: entry?.lastSeenAt)
            }
        }
    }

    /// The users whose presence has changed since a moment.
    func changed(since moment: Timestamp, in application: Application.ID) -> Set<UserID> {
        state.withLock { state in
            Set(
                state.presence.filter { key, entry in
                    key.application == application && entry.changedAt >= moment
                }.map(\.key.user))
        }
    }

    /// A user has no connection to this process any more.
    func left(_ user: UserID, in application: Application.ID) {
        let key = PresenceKey(application: application, user: user)
        let now = clock()
        let isKnown = state.withLock { state in
            guard let entry = state.presence[key] else { return false }
            state.presence[key]?.graceEnd = .now + .milliseconds(grace)
            // An invisible user is not seen.
            if entry.shown != .offline { state.presence[key]?.lastSeenAt = now }
            return true
        }
        if isKnown { examineLater(key) }
    }

    /// Examines a user once the time without a connection has ended, however often it is prolonged meanwhile.
    private func examineLater(_ key: PresenceKey) {
        let isFirst = state.withLock { state in
            defer { state.presence[key]?.isTimed = true }
            return state.presence[key]?.isTimed == false
        }
        guard isFirst else { return }
        Task { [weak self] in
            while let end = self?.state.withLock({ state in state.presence[key]?.graceEnd }),
                end > .now
            {
                await pause(milliseconds: Int64((end - .now) / .milliseconds(1)) + 1)
            }
            guard let self else { return }
            state.withLock { state in state.presence[key]?.isTimed = false }
            if examine(key) { passPresence(of: key) }
        }
    }

    private func isConnected(_ key: PresenceKey, _ entry: Entry) -> Bool {
        entry.graceEnd > .now || feeds.feed(of: key.application).hasReader(of: key.user)
    }

    /// Sends the presence of a user to others, unless it was sent to them last.
    ///
    /// - Returns: Whether it has changed.
    @discardableResult private func examine(_ key: PresenceKey) -> Bool {
        guard let known = state.withLock({ state in state.presence[key] }) else { return false }
        let isHere = isConnected(key, known)
        let now = clock()
        let presence = state.withLock { state -> Presence? in
            guard var entry = state.presence[key] else { return nil }
            entry.elsewhere = entry.elsewhere.filter { _, end in end > .now }
            let isPresent = isHere || !entry.elsewhere.isEmpty
            let status = isPresent ? entry.chosen.shown : .offline
            if isHere, status != .offline { entry.lastSeenAt = now }
            let isNew = status != entry.shown
            if isNew {
                entry.shown = status
                entry.changedAt = now
            }
            state.presence[key] = entry
            return isNew
                ? Presence(user: key.user, status: status, lastSeenAt: entry.lastSeenAt) : nil
        }
        guard let presence else { return false }
        perform { [self] in
            let feed = feeds.feed(of: key.application)
            let audience = try await store.presenceAudience(
                of: key.user, among: feed.users, in: key.application)
            feed.signal(.presence(presence), to: audience)
        }
        return true
    }

    /// Names the connected users to the other processes again while there are any.
    private func refresh() {
        guard store.isShared else { return }
        let isFirst = state.withLock { state in
            defer { state.isRefreshing = true }
            return !state.isRefreshing
        }
        guard isFirst else { return }
        Task { [weak self] in
            while true {
                await pause(milliseconds: Self.refresh)
                guard let self else { return }
                let keys = state.withLock { state in
                    state.presence = state.presence.filter { _, entry in
                        entry.shown != .offline
                            || entry.changedAt.milliseconds + 86_400_000
                                > self.clock().milliseconds
                    }
                    state.isRefreshing = !state.presence.isEmpty
                    return Array(state.presence.filter { $0.value.shown != .offline }.keys)
                }
                for key in keys {
                    examine(key)
                    if let entry = state.withLock({ state in state.presence[key] }),
                        isConnected(key, entry)
                    {
                        passPresence(of: key)
                    }
                }
                guard state.withLock({ state in state.isRefreshing }) else { return }
            }
        }
    }
}

// MARK: - Other processes

extension LiveSignals {
    private func pass(
        _ application: Application.ID, _ members: @Sendable (inout JSONWriter) -> Void
    ) async throws {
        guard store.isShared else { return }
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in members(&writer) }
        try await store.pass(writer.finish(), from: process, in: application)
    }

    private func passPresence(of key: PresenceKey) {
        guard store.isShared, let entry = state.withLock({ state in state.presence[key] }) else {
            return
        }
        let isHere = isConnected(key, entry)
        perform { [self] in
            try await pass(key.application) { writer in
                writer.member("user", key.user.text)
                writer.member("status", entry.chosen.rawValue)
                writer.member("chosen_at", entry.chosenAt.milliseconds)
                writer.member("last_seen_at", entry.lastSeenAt?.milliseconds ?? 0)
                writer.member("is_connected", isHere)
            }
        }
    }

    /// Receives a signal of a process, possibly of this one.
    func receive(_ bytes: [UInt8], from process: String, in application: Application.ID) {
        guard process != self.process, let signal = try? JSONDocument(bytes).root,
            let user = signal["user"]?.string.flatMap({ UserID($0) })
        else { return }
        if let action = signal["action"]?.string.flatMap(TypingAction.init),
            let conversation = signal["conversation"]?.string
                .flatMap({ Conversation.ID(uuid: $0) })
        {
            let key = TypingKey(application: application, conversation: conversation, user: user)
            let position = LogPosition(signal["position"]?.integer ?? 0)
            let message = signal["message"]?.integer.map { number in LogPosition(number) }
            guard noteElsewhere(action, key, at: position, endedBy: message) else { return }
            perform(key) { [self] in
                try await tell(
                    action, by: user, in: conversation, of: application, after: position)
            }
            return
        }
        guard let chosen = signal["status"]?.string.flatMap(PresenceStatus.init),
            let chosenAt = signal["chosen_at"]?.integer,
            let isConnected = signal["is_connected"]?.bool
        else { return }
        let key = PresenceKey(application: application, user: user)
        let seen = signal["last_seen_at"]?.integer ?? 0
        let isNew = state.withLock { state in
            guard state.presence[key] != nil || state.presence.count < Self.capacity else {
                return false
            }
            var entry = state.presence[key] ?? Entry()
            // What this process would say of the user is news to others as well.
            let isNew = state.presence[key] == nil
            if isNew { entry.graceEnd = .now }
            if chosenAt >= entry.chosenAt.milliseconds {
                entry.chosen = chosen
                entry.chosenAt = Timestamp(milliseconds: chosenAt)
            }
            if seen > entry.lastSeenAt?.milliseconds ?? 0 {
                entry.lastSeenAt = Timestamp(milliseconds: seen)
            }
            entry.elsewhere[process] =
                isConnected ? .now + .milliseconds(Self.belief) : nil
            state.presence[key] = entry
            return isNew
        }
        examine(key)
        refresh()
        if isNew, feeds.feed(of: application).hasReader(of: user) { passPresence(of: key) }
    }
}
