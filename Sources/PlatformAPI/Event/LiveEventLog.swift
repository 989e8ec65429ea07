import HTTP
import Messaging
import MessagingStore
import SystemSupport

/// The live end of one log: its latest events, each read and written down once for all who stream them.
///
/// One task follows the log as long as somebody reads. It is woken with a position, reads what is new,
/// puts the frames into a ring, and wakes the readers, who fetch from there what they have room for.
/// Whoever is further behind than the ring reaches reads the store on his own.
final class LiveEventLog: Sendable {
    /// Most events read at once.
    static let stretch = 100
    /// How long nobody looks when nothing is signalled, in milliseconds: what other processes commit
    /// is found by then.
    static let patience: Int64 = 5000
    /// How long it gathers behind a waking, for each of those who were woken, in microseconds.
    ///
    /// A waking costs each stream one `send`, of some 12 µs with what the kernel does for it on either
    /// side, and 1 µs more for each event it brings. So a busy log with many readers wakes them more
    /// rarely, with more at once; what comes after a rest is sent at once.
    private static let gathering = 20

    private struct State {
        var ring = RecentEvents()
        var readers: [ObjectIdentifier: LiveEventStream] = [:]
        var follower: Task<Void, Never>?
        /// Counts the followers; what one of yesterday still brings is not wanted.
        var generation = 0
    }

    let application: Application.ID
    let store: MessagingStore
    let frames: EventEncoder
    private let onFault: @Sendable (any Error) -> Void
    private let state = Locked(State())

    init(
        of application: Application.ID, store: MessagingStore, frames: EventEncoder,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.onFault = onFault
        self.application = application
        self.store = store
        self.frames = frames
    }

    /// What comes after a place.
    func next(after place: LogPosition) -> RecentEvents.Step {
        state.withLock { state in state.ring.next(after: place) }
    }

    /// Wakes a reader from now on.
    ///
    /// - Parameter place: Where the log ended lately; the ring begins there when he is the first.
    func enter(_ reader: LiveEventStream, at place: LogPosition) {
        state.withLock { state in
            state.readers[ObjectIdentifier(reader)] = reader
            guard state.follower == nil else { return }
            state.ring = RecentEvents(after: place)
            state.generation += 1
            state.follower = Task { [generation = state.generation] in await follow(generation) }
        }
    }

    /// Wakes him no more; the last one takes the ring with him.
    func leave(_ reader: LiveEventStream) {
        let follower = state.withLock { state -> Task<Void, Never>? in
            state.readers[ObjectIdentifier(reader)] = nil
            guard state.readers.isEmpty else { return nil }
            defer { state.follower = nil }
            state.ring = RecentEvents()
            return state.follower
        }
        follower?.cancel()
    }

    // MARK: - Following

    private func follow(_ generation: Int) async {
        while !Task.isCancelled, let place = end(generation) {
            do {
                let page = try await store.eventPage(
                    after: place, limit: Self.stretch, in: application)
                let frames = frames.frames(page.events, in: application)
                guard !frames.isEmpty else {
                    await store.signal.wait(
                        past: place, in: application, atMost: Self.patience)
                    continue
                }
                let readers = append(frames, generation)
                let endings = page.events.prefix(frames.count).compactMap(\.recorded.event.ending)
                for reader in readers {
                    reader.wake()
                    for ending in endings { reader.end(ending) }
                }
                // Also with more to come: faster than they can send it, the ring would outrun them all.
                await gather(for: readers.count)
            } catch {
                onFault(error)
                // Cancelled, the loop ends.
                await pause(milliseconds: 1000)
            }
        }
    }

    /// Lets more come together; nothing that a timer could measure for few readers.
    private func gather(for readers: Int) async {
        let milliseconds = Int64(readers * Self.gathering / 1000)
        // Cancelled, the loop ends.
        if milliseconds > 0 { await pause(milliseconds: milliseconds) }
    }

    private func end(_ generation: Int) -> LogPosition? {
        state.withLock { state in state.generation == generation ? state.ring.end : nil }
    }

    private func append(_ frames: [EventEncoder.Frame], _ generation: Int) -> [LiveEventStream] {
        state.withLock { state in
            guard state.generation == generation else { return [] }
            state.ring.append(frames)
            return Array(state.readers.values)
        }
    }
}

/// Whose streams end with an event (H158).
enum StreamTermination: Equatable, Sendable {
    case ofToken(Token.ID)
    case ofAll
}

extension Event {
    /// Whose streams it ends: of a token that is revoked, and of an application that is suspended.
    fileprivate var ending: StreamTermination? {
        if case .tokenRevoked(let revoked) = self { return .ofToken(revoked.token) }
        if case .applicationSuspended(let change) = self, change.isSuspended { return .ofAll }
        return nil
    }
}

/// The live ends of the logs of all applications, each made when somebody first reads it live.
final class LiveEventLogs: Sendable {
    let store: MessagingStore
    let frames: EventEncoder
    private let onFault: @Sendable (any Error) -> Void
    private let tails = Locked<[Application.ID: LiveEventLog]>([:])

    init(
        store: MessagingStore, frames: EventEncoder,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.frames = frames
        self.onFault = onFault
    }

    /// The live end of an application's log; without readers it does nothing and holds nothing.
    func tail(of application: Application.ID) -> LiveEventLog {
        tails.withLock { tails in
            if let tail = tails[application] { return tail }
            let tail = LiveEventLog(
                of: application, store: store, frames: frames, onFault: onFault)
            tails[application] = tail
            return tail
        }
    }
}
