import HTTP
import Messaging
import MessagingStore
import SystemSupport

/// The latest events of one application's log, each read and encoded once for all streams.
///
/// One task reads the log while there are streams. The store's signal wakes it; it reads the new events, appends
/// their frames to a ring, and wakes the streams, which send from the ring what their clients can take. A stream that
/// is further behind than the ring reads the store itself. Safe to use from any thread.
final class LiveEventLog: Sendable {
    /// The most events of one read.
    static let batchSize = 100
    /// The pause after waking the streams, in microseconds for each stream.
    ///
    /// Waking costs each stream one `send`, about 12 µs with the kernel's work on both sides, and 1 µs for each event.
    /// The pause makes a busy log with many streams send more events at once; an event after an idle time is sent
    /// at once.
    private static let batchingDelay = 20

    private struct State {
        var ring = RecentEvents()
        var readers: [ObjectIdentifier: LiveEventStream] = [:]
        var task: Task<Void, Never>?
        /// The number of the current task; events that an earlier task still reads are discarded.
        var generation = 0
    }

    let application: Application.ID
    let store: MessagingStore
    let frames: EventEncoder
    let onFault: @Sendable (any Error) -> Void
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

    /// Returns the batch after a position, or why there is none.
    func next(after position: LogPosition) -> RecentEvents.Step {
        state.withLock { state in state.ring.next(after: position) }
    }

    /// Adds a stream, which is woken from now on.
    ///
    /// - Parameter position: A recent end of the log; the ring of a first stream begins there.
    func add(_ reader: LiveEventStream, at position: LogPosition) {
        state.withLock { state in
            state.readers[ObjectIdentifier(reader)] = reader
            guard state.task == nil else { return }
            state.ring = RecentEvents(after: position)
            state.generation += 1
            state.task = Task { [generation = state.generation] in await run(generation) }
        }
    }

    /// Removes a stream; without streams the task ends and the ring is emptied.
    func remove(_ reader: LiveEventStream) {
        let task = state.withLock { state -> Task<Void, Never>? in
            state.readers[ObjectIdentifier(reader)] = nil
            guard state.readers.isEmpty else { return nil }
            defer { state.task = nil }
            state.ring = RecentEvents()
            return state.task
        }
        task?.cancel()
    }

    // MARK: - Reading the log

    private func run(_ generation: Int) async {
        while !Task.isCancelled, let position = end(generation) {
            do {
                let page = try await store.eventPage(
                    EventLogQuery(.ascending(after: position), limit: Self.batchSize),
                    in: application)
                let frames = frames.frames(page.events, in: application)
                guard !frames.isEmpty else {
                    await store.signal.poll(past: position, in: application)
                    continue
                }
                let readers = append(frames, generation)
                let terminations = page.events.prefix(frames.count).compactMap(
                    \.recorded.event.termination)
                for reader in readers {
                    reader.wake()
                    for termination in terminations { reader.end(termination) }
                }
                // Pauses even if more events can be read: otherwise the ring would discard events before streams send
                // them.
                await waitToBatch(for: readers.count)
            } catch {
                onFault(error)
                // Returns at once when the task is cancelled.
                await pause(milliseconds: 1000)
            }
        }
    }

    /// Pauses so that more events are sent at once; with few streams there is no pause.
    private func waitToBatch(for readers: Int) async {
        let milliseconds = Int64(readers * Self.batchingDelay / 1000)
        // Returns at once when the task is cancelled.
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

/// The streams that an event ends (H158).
enum StreamTermination: Equatable, Sendable {
    case ofToken(Token.ID)
    case ofAll
}

extension Event {
    /// The streams it ends: those of a revoked token, and all of a suspended application.
    fileprivate var termination: StreamTermination? {
        if case .tokenRevoked(let revoked) = self { return .ofToken(revoked.token) }
        if case .applicationSuspended(let change) = self, change.isSuspended { return .ofAll }
        return nil
    }
}

/// The live event logs of all applications in each form, each created for its first stream.
final class LiveEventLogs: Sendable {
    private struct Key: Hashable {
        let application: Application.ID
        let form: EventEncoder.Form
    }

    private let store: MessagingStore
    private let frames: EventEncoder
    private let onFault: @Sendable (any Error) -> Void
    private let liveLogs = Locked<[Key: LiveEventLog]>([:])

    init(
        store: MessagingStore, frames: EventEncoder,
        onFault: @escaping @Sendable (any Error) -> Void
    ) {
        self.store = store
        self.frames = frames
        self.onFault = onFault
    }

    /// Returns an application's live log in a form; without streams it runs no task and holds no events.
    func log(of application: Application.ID, in form: EventEncoder.Form) -> LiveEventLog {
        let key = Key(application: application, form: form)
        return liveLogs.withLock { liveLogs in
            if let log = liveLogs[key] { return log }
            let log = LiveEventLog(
                of: application, store: store, frames: encoder(form), onFault: onFault)
            liveLogs[key] = log
            return log
        }
    }

    /// Returns the encoder of a form.
    func encoder(_ form: EventEncoder.Form) -> EventEncoder {
        var encoder = frames
        encoder.form = form
        return encoder
    }
}
