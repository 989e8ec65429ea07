import Messaging
import MessagingStore
import SystemSupport

/// Wakes the feeds of one application's users when an event concerns them.
///
/// One task reads the event log while there are readers. For each batch of events it finds out, with a few statements for
/// all users, whose feeds may have changed, and what their readers are given that have everything before the batch. Only
/// these readers are woken; one that is behind reads for itself. Safe to use from any thread.
final class LiveFeed: Sendable {
    /// A stream or a waiting request of one user.
    protocol Reader: AnyObject, Sendable {
        var user: UserID { get }
        var session: Token.ID { get }
        /// What it wants of events that concern the user.
        var interest: FeedActivity.Interest { get }
        /// Whether it shows the receipts of others in wide conversations.
        var showsAllReceipts: Bool { get }
        /// Events up to a position may have changed the user's feed. Those between the last such call and `start` did
        /// not concern the user.
        ///
        /// - Parameter content: What a reader is given that has everything up to `start`; `nil` if it has to read.
        func wake(
            at position: LogPosition, after start: LogPosition, _ content: FeedActivity.Content?)
        /// Another user signals something; it is not repeated.
        func receive(_ signal: Signal)
        /// The session has ended.
        func end()
    }

    private struct State {
        var readers: [UserID: [ObjectIdentifier: any Reader]] = [:]
        /// What the readers of each user want.
        var interests: [UserID: Set<FeedActivity.Interest>] = [:]
        var position = LogPosition.start
        /// Whether readers are being woken for the events up to `position`.
        var isWaking = false
        /// The users of readers that were added since the last call of `current`: the examination under way may have
        /// begun without them.
        var added: Set<UserID> = []
        var task: Task<Void, Never>?
        /// The number of the current task.
        var generation = 0
        /// The users that are woken later, and for which events.
        var later: [UserID: Range<LogPosition>] = [:]
        var isWaitingToWake = false
        /// Signals that were sent after events that are not examined yet.
        var signals: [PendingSignal] = []

        mutating func add(_ reader: any Reader) {
            readers[reader.user, default: [:]][ObjectIdentifier(reader)] = reader
            interests[reader.user, default: []].insert(reader.interest)
            added.insert(reader.user)
        }

        /// - Returns: Whether it was the last reader of its user.
        mutating func remove(_ reader: any Reader) -> Bool {
            readers[reader.user]?[ObjectIdentifier(reader)] = nil
            let rest = readers[reader.user].map { readers in Array(readers.values) } ?? []
            interests[reader.user] = rest.isEmpty ? nil : Set(rest.map(\.interest))
            guard rest.isEmpty else { return false }
            return readers.removeValue(forKey: reader.user) != nil
        }
    }

    private struct PendingSignal {
        let signal: Signal
        let users: Set<UserID>
        /// The end of the log when it was sent.
        let position: LogPosition
    }

    /// The most signals that wait; further ones are dropped.
    private static let signalLimit = 1000

    private let application: Application.ID
    private let store: MessagingStore
    private let receiptInterval: Int64
    let onFault: @Sendable (any Error) -> Void
    private let observer: @Sendable () -> (any LiveFeedObserver)?
    private let state = Locked(State())

    /// - Parameters:
    ///   - receiptInterval: How often readers are woken for receipts in wide conversations, in milliseconds.
    ///   - observer: Returns what is called for what the feed notices.
    init(
        of application: Application.ID, store: MessagingStore, receiptInterval: Int64,
        onFault: @escaping @Sendable (any Error) -> Void,
        observer: @escaping @Sendable () -> (any LiveFeedObserver)?
    ) {
        self.application = application
        self.store = store
        self.receiptInterval = receiptInterval
        self.onFault = onFault
        self.observer = observer
    }

    /// The users with readers.
    var users: Set<UserID> { state.withLock { state in Set(state.readers.keys) } }

    /// Whether a user has readers.
    func hasReader(of user: UserID) -> Bool {
        state.withLock { state in state.readers[user] != nil }
    }

    /// Passes a signal to the readers of some users, after the events that were committed before it: a message ends what
    /// its sender has signalled before, and not what follows it.
    ///
    /// - Parameter position: An event that was committed before it; another process may know later ones than this one.
    func signal(_ signal: Signal, to users: Set<UserID>, after position: LogPosition = .start) {
        let end = max(position, store.signal.latest(in: application) ?? .start)
        let isDue = state.withLock { state in
            guard !state.signals.isEmpty || state.isWaking || state.position < end else {
                return true
            }
            if !state.readers.isEmpty, state.signals.count < Self.signalLimit {
                state.signals.append(PendingSignal(signal: signal, users: users, position: end))
            }
            return false
        }
        if isDue { send(signal, to: users) }
    }

    /// Passes on the signals that waited for events that are examined now. A signal is removed once it was passed on, so
    /// that a later one does not overtake it.
    private func sendSignals() {
        while let next = state.withLock({ state in
            state.signals.first.flatMap { next in next.position <= state.position ? next : nil }
        }) {
            send(next.signal, to: next.users)
            state.withLock { state in if !state.signals.isEmpty { state.signals.removeFirst() } }
        }
    }

    private func send(_ signal: Signal, to users: Set<UserID>) {
        let readers = state.withLock { state in
            users.flatMap { user in state.readers[user].map { Array($0.values) } ?? [] }
        }
        for reader in readers { reader.receive(signal) }
    }

    /// Adds a reader, which is woken by events after a position.
    ///
    /// - Parameter position: The end of the log when the reader last read its feed. If it was read earlier than events
    ///   that were examined already, the reader is woken at once.
    func add(_ reader: any Reader, at position: LogPosition) {
        let examined = state.withLock { state -> LogPosition in
            state.add(reader)
            guard state.task == nil else { return state.position }
            state.position = position
            state.generation += 1
            state.task = Task { [generation = state.generation] in await run(generation) }
            return position
        }
        if position < examined { reader.wake(at: examined, after: position, nil) }
    }

    /// Removes a reader; without readers the task ends.
    func remove(_ reader: any Reader) {
        let (task, isLast) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            let isLast = state.remove(reader)
            guard state.readers.isEmpty else { return (nil, isLast) }
            state.signals = []
            defer { state.task = nil }
            return (state.task, isLast)
        }
        task?.cancel()
        if isLast { observer()?.left(reader.user, in: application) }
    }

    private func run(_ generation: Int) async {
        while !Task.isCancelled, let (position, readers) = current(generation) {
            do {
                let found = try await store.feedActivity(
                    after: position, among: readers, in: application)
                guard let found else {
                    await store.signal.poll(past: position, in: application)
                    continue
                }
                advance(by: found, generation)
            } catch {
                onFault(error)
                // Returns at once when the task is cancelled.
                await pause(milliseconds: 1000)
            }
        }
    }

    private func current(
        _ generation: Int
    ) -> (LogPosition, [UserID: Set<FeedActivity.Interest>])? {
        state.withLock { state in
            guard state.generation == generation else { return nil }
            state.added = []
            return (state.position, state.interests)
        }
    }

    private struct Woken {
        let reader: any Reader
        let content: FeedActivity.Content?
    }

    private func advance(by found: FeedActivity, _ generation: Int) {
        let (woken, ended, start) = state.withLock { state in
            let start = state.position
            guard state.generation == generation else {
                return ([] as [Woken], [] as [any Reader], start)
            }
            state.position = found.through
            state.isWaking = true
            let woken = found.users.union(state.added).flatMap { user in
                // A reader that waits for its receipts of wide conversations has not read everything before the events.
                let contents = state.later[user] == nil ? found.contents[user] : nil
                return (state.readers[user] ?? [:]).values.map { reader in
                    Woken(reader: reader, content: contents?[reader.interest])
                }
            }
            let ended =
                found.endings.isEmpty
                ? []
                : state.readers.values.flatMap(\.values).filter { reader in
                    found.endings.contains { ending in ending.ends(reader) }
                }
            for user in found.users { state.later[user] = nil }
            for user in found.later where state.readers[user] != nil {
                let first = state.later[user]?.lowerBound ?? start
                state.later[user] = first..<found.through
            }
            return (woken, ended, start)
        }
        wakeLater()
        for woken in woken { woken.reader.wake(at: found.through, after: start, woken.content) }
        state.withLock { state in state.isWaking = false }
        if !ended.isEmpty { endWithoutSession(ended) }
        for (user, conversation, position) in found.sent {
            observer()?.sent(by: user, in: conversation, of: application, at: position)
        }
        sendSignals()
    }

    /// Ends those of some readers whose sessions do not exist any more. A session that began after all sessions of its user
    /// were ended still exists.
    func endWithoutSession(_ readers: [any Reader]) {
        Task { [store, application, onFault] in
            for reader in readers {
                do {
                    if try await store.hasSession(Session.ID(reader.session), in: application) {
                        continue
                    }
                } catch {
                    // Its client reconnects and is then authenticated.
                    onFault(error)
                }
                reader.end()
            }
        }
    }

    /// Wakes the users that are to be woken later, all at once after the interval.
    private func wakeLater() {
        let mustWait = state.withLock { state in
            guard !state.later.isEmpty, !state.isWaitingToWake else { return false }
            state.isWaitingToWake = true
            return true
        }
        guard mustWait else { return }
        Task { [weak self, receiptInterval] in
            await pause(milliseconds: receiptInterval)
            self?.wakeDelayed()
        }
    }

    private func wakeDelayed() {
        let woken = state.withLock { state in
            let woken = state.later.flatMap { user, events in
                (state.readers[user] ?? [:]).values.filter(\.showsAllReceipts).map { reader in
                    (reader, events)
                }
            }
            state.later = [:]
            state.isWaitingToWake = false
            return woken
        }
        for (reader, events) in woken {
            reader.wake(at: events.upperBound, after: events.lowerBound, nil)
        }
    }
}

extension FeedActivity.Ending {
    /// Whether it ends the session of a reader.
    fileprivate func ends(_ reader: any LiveFeed.Reader) -> Bool {
        switch self {
        case .session(let id): Token.ID(id) == reader.session
        case .sessions(let user): user == reader.user
        case .all: true
        }
    }
}

/// The live feeds of all applications, each created for its first reader.
final class LiveFeeds: Sendable {
    private let store: MessagingStore
    private let receiptInterval: Int64
    private let onFault: @Sendable (any Error) -> Void
    private let feeds = Locked<[Application.ID: LiveFeed]>([:])
    private let observation = Locked(Observation())

    private struct Observation {
        weak var observer: (any LiveFeedObserver)?
    }

    init(
        store: MessagingStore, receiptInterval: Int64,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.receiptInterval = receiptInterval
        self.onFault = onFault
    }

    /// Returns an application's live feed; without readers it runs no task.
    func feed(of application: Application.ID) -> LiveFeed {
        feeds.withLock { feeds in
            if let feed = feeds[application] { return feed }
            let feed = LiveFeed(
                of: application, store: store, receiptInterval: receiptInterval, onFault: onFault
            ) { [weak self] in self?.observer }
            feeds[application] = feed
            return feed
        }
    }

    private var observer: (any LiveFeedObserver)? {
        observation.withLock { observation in observation.observer }
    }

    /// Calls an observer, which is not retained, for what the feeds notice.
    func notify(_ observer: any LiveFeedObserver) {
        observation.withLock { observation in observation.observer = observer }
    }
}

/// What is called for what the live feeds notice of users.
protocol LiveFeedObserver: AnyObject, Sendable {
    /// A user has no reader any more.
    func left(_ user: UserID, in application: Application.ID)
    /// A user has sent a message, which the readers were woken for; with the position of the event.
    func sent(
        by user: UserID, in conversation: Conversation.ID, of application: Application.ID,
        at position: LogPosition)
}

extension LiveFeed {
    /// Waits until an event may have changed a user's feed, for at most that many milliseconds.
    ///
    /// - Parameter position: The end of the log when the feed was last read.
    /// - Returns: Whether the session has ended.
    func wait(
        for user: UserID, session: Token.ID, past position: LogPosition,
        atMost milliseconds: Int64
    ) async -> Bool {
        let waiter = FeedWaiter(user: user, session: session)
        add(waiter, at: position)
        defer { remove(waiter) }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask { await waiter.isOver }
            group.addTask {
                await pause(milliseconds: milliseconds)
                return false
            }
            let isOver = await group.next() ?? false
            waiter.cancel()
            group.cancelAll()
            return isOver
        }
    }
}

/// A request that waits for a change of its user's feed.
private final class FeedWaiter: LiveFeed.Reader {
    let user: UserID
    let session: Token.ID
    let interest = FeedActivity.Interest.position
    let showsAllReceipts = true
    private let outcome = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(user: UserID, session: Token.ID) {
        self.user = user
        self.session = session
    }

    /// Waits for the first of the calls below; true if the session has ended.
    var isOver: Bool {
        get async {
            var results = outcome.stream.makeAsyncIterator()
            return await results.next() ?? false
        }
    }

    func wake(
        at position: LogPosition, after start: LogPosition, _ content: FeedActivity.Content?
    ) {
        outcome.continuation.yield(false)
        outcome.continuation.finish()
    }

    /// A request that waits has no place for signals.
    func receive(_ signal: Signal) {}

    func end() {
        outcome.continuation.yield(true)
        outcome.continuation.finish()
    }

    func cancel() { outcome.continuation.finish() }
}
