import HTTP
import Messaging
import MessagingStore
import SystemSupport

/// One live stream: it takes from the ring what its client has room for, and from the store what the
/// ring no longer has.
///
/// It sends nothing while something waits for the client. So a slow one costs no more than what is
/// under way, loses nothing, and goes on where it is.
final class LiveEventStream: EventStreamHandler {
    private struct State {
        var place: LogPosition
        var stream: EventStream?
        /// The store is being read; what comes out of it is sent first.
        var isReading = false
        var isOver = false
    }

    private let tail: LiveEventLog
    private let types: Set<EventType>?
    private let token: Token.ID
    private let end: LogPosition
    private let state: Locked<State>

    /// - Parameters:
    ///   - end: How far the log goes; from there on it is followed, should nobody follow it yet.
    ///   - types: What it sends; `nil` for everything.
    init(
        tail: LiveEventLog, after place: LogPosition, end: LogPosition, types: Set<EventType>?,
        token: Token.ID
    ) {
        self.tail = tail
        self.end = end
        self.types = types
        self.token = token
        state = Locked(State(place: place))
    }

    /// Looks for something to send, on the stream's loop, soon.
    func wake() {
        guard let stream = state.withLock({ state in state.stream }) else { return }
        stream.perform { self.go(on: stream) }
    }

    /// Ends the stream if it is one of those, behind what it has been sent.
    func end(_ ending: StreamTermination) {
        guard ending == .ofAll || ending == .ofToken(token) else { return }
        state.withLock { state in state.stream }?.close()
    }

    // MARK: - The stream

    /// Behind what was sent and what was passed over, which may be much: who wants a rare type would come
    /// back with the id of the last one, which the log may not reach back to any more.
    var resumePosition: Int64? { state.withLock { state in state.place.number } }

    func opened(_ stream: EventStream) {
        state.withLock { state in state.stream = stream }
        tail.enter(self, at: end)
        go(on: stream)
    }

    func drained(_ stream: EventStream) { go(on: stream) }

    func closed(_ stream: EventStream) {
        state.withLock { state in
            state.stream = nil
            state.isOver = true
        }
        tail.leave(self)
    }

    // MARK: - Going on

    private func go(on stream: EventStream) {
        while !stream.isFull {
            let (place, isBusy) = state.withLock { state in
                (state.place, state.isReading || state.isOver)
            }
            guard !isBusy else { return }
            switch tail.next(after: place) {
            case .end: return
            case .batch(let batch): send(batch, after: place, to: stream)
            case .behind: return catchUp(after: place, stream)
            }
        }
    }

    private func send(
        _ batch: RecentEvents.Batch, after place: LogPosition, to stream: EventStream
    ) {
        if place == batch.start, types?.isSuperset(of: batch.types) ?? true {
            stream.send(batch.joined)
        } else {
            send(
                batch.frames.filter { frame in
                    frame.position > place && types?.contains(frame.type) ?? true
                }, to: stream)
        }
        state.withLock { state in state.place = batch.end }
    }

    private func send(_ frames: [EventEncoder.Frame], to stream: EventStream) {
        if !frames.isEmpty { stream.send(.joined(frames.map(\.event))) }
    }

    /// Reads a stretch of the store, and goes on behind it.
    private func catchUp(after place: LogPosition, _ stream: EventStream) {
        state.withLock { state in state.isReading = true }
        Task {
            let found = await stretch(after: place)
            stream.perform {
                switch found {
                case .success(let (frames, through)):
                    self.send(frames, to: stream)
                    self.state.withLock { state in
                        state.place = through
                        state.isReading = false
                    }
                    self.go(on: stream)
                case .failure(let error):
                    if case .positionGone(let oldest) = error as? Rejection,
                        let gone = EventEncoder.gone(oldest)
                    {
                        stream.send(gone)
                    }
                    // Else he comes back, and is told by a status what is wrong.
                    stream.close()
                }
            }
        }
    }

    private func stretch(
        after place: LogPosition
    ) async -> Result<(frames: [EventEncoder.Frame], through: LogPosition), any Error> {
        do {
            let page = try await tail.store.eventPage(
                after: place, types: types, limit: LiveEventLog.stretch, in: tail.application)
            let frames = tail.frames.frames(page.events, in: tail.application)
            let isWhole = frames.count == page.events.count
            return .success(
                (frames, isWhole ? page.through : frames.last?.position ?? page.through))
        } catch {
            return .failure(error)
        }
    }
}
