import HTTP
import Messaging
import MessagingStore
import SystemSupport

/// One client's stream of events: it sends events from the ring, and those that the ring no longer holds from the
/// store.
///
/// It sends nothing while the client has unsent data, so a slow client costs one batch of memory and misses nothing.
final class LiveEventStream: EventStreamHandler {
    private struct State {
        var position: LogPosition
        var stream: EventStream?
        /// Whether the store is being read; its events are sent before those of the ring.
        var isReading = false
        var isOver = false
    }

    private let log: LiveEventLog
    private let query: EventLogQuery
    private let token: Token.ID
    private let end: LogPosition
    private let state: Locked<State>

    /// - Parameters:
    ///   - end: The end of the log, where the ring begins if this is the first stream.
    ///   - query: The events it sends.
    init(
        log: LiveEventLog, after position: LogPosition, end: LogPosition, query: EventLogQuery,
        token: Token.ID
    ) {
        self.log = log
        self.end = end
        self.query = query
        self.token = token
        state = Locked(State(position: position))
    }

    /// Sends the events that follow, asynchronously on the event loop of the stream.
    func wake() {
        guard let stream = state.withLock({ state in state.stream }) else { return }
        stream.perform { self.sendNext(on: stream) }
    }

    /// Ends the stream after the events already sent, if the termination applies to it.
    func end(_ termination: StreamTermination) {
        guard termination == .ofAll || termination == .ofToken(token) else { return }
        state.withLock { state in state.stream }?.close()
    }

    // MARK: - EventStreamHandler

    /// The position of the last event that was sent or skipped. Without the skipped ones, a client that wants a rare
    /// type would resume after the last event it received, which may no longer be in the log.
    var resumePosition: Int64? { state.withLock { state in state.position.number } }

    func opened(_ stream: EventStream) {
        state.withLock { state in state.stream = stream }
        log.add(self, at: end)
        sendNext(on: stream)
    }

    func drained(_ stream: EventStream) { sendNext(on: stream) }

    func closed(_ stream: EventStream) {
        state.withLock { state in
            state.stream = nil
            state.isOver = true
        }
        log.remove(self)
    }

    // MARK: - Sending

    private func sendNext(on stream: EventStream) {
        while !stream.isFull {
            let (position, isBusy) = state.withLock { state in
                (state.position, state.isReading || state.isOver)
            }
            guard !isBusy else { return }
            switch log.next(after: position) {
            case .end: return
            // The ring does not know which users and conversations its events name.
            case .batch where query.conversation != nil || query.user != nil,
                .discarded:
                return catchUp(after: position, stream)
            case .batch(let batch): send(batch, after: position, to: stream)
            }
        }
    }

    private func send(
        _ batch: RecentEvents.Batch, after position: LogPosition, to stream: EventStream
    ) {
        if position == batch.start, query.types?.isSuperset(of: batch.types) ?? true {
            stream.send(batch.joined)
        } else {
            send(
                batch.frames.filter { frame in
                    frame.position > position && query.types?.contains(frame.type) ?? true
                }, to: stream)
        }
        state.withLock { state in state.position = batch.end }
    }

    private func send(_ frames: [EventEncoder.Frame], to stream: EventStream) {
        if !frames.isEmpty { stream.send(.joined(frames.map(\.event))) }
    }

    /// Reads a batch from the store, sends it, and continues after it.
    private func catchUp(after position: LogPosition, _ stream: EventStream) {
        state.withLock { state in state.isReading = true }
        Task {
            let found = await readBatch(after: position)
            stream.perform {
                switch found {
                case .success(let (frames, through)):
                    self.send(frames, to: stream)
                    self.state.withLock { state in
                        state.position = through
                        state.isReading = false
                    }
                    self.sendNext(on: stream)
                case .failure(let error):
                    if case .positionGone(let oldest) = error as? Rejection {
                        if let gone = EventEncoder.gone(oldest) { stream.send(gone) }
                    } else {
                        // The client reconnects and gets a status.
                        self.log.onFault(error)
                    }
                    stream.close()
                }
            }
        }
    }

    private func readBatch(
        after position: LogPosition
    ) async -> Result<(frames: [EventEncoder.Frame], through: LogPosition), any Error> {
        do {
            var query = query
            query.order = .ascending(after: position)
            query.limit = LiveEventLog.batchSize
            let page = try await log.store.eventPage(query, in: log.application)
            let frames = log.frames.frames(page.events, in: log.application)
            let isWhole = frames.count == page.events.count
            return .success(
                (frames, isWhole ? page.through : frames.last?.position ?? page.through))
        } catch {
            return .failure(error)
        }
    }
}
