import HTTP
import Messaging
import MessagingStore
import SystemSupport

/// One client's stream of a user's feed (Y1): it reads pages from the store until the client has everything, and is then
/// given the pages of new events.
///
/// It reads nothing while the client has unsent data, so a slow client costs one page of memory and misses nothing.
final class FeedStream: EventStreamHandler, LiveFeed.Reader {
    private struct State {
        var cursor: FeedCursor?
        var stream: EventStream?
        /// The end of the log at the last read.
        var read = LogPosition.start
        /// The end of the log that the reader was woken for.
        var woken = LogPosition.start
        var isReading = false
        /// Whether `ready` has been sent since the stream opened or a snapshot began.
        var isReady = false
        /// Whether more is known to follow.
        var isCut = true
        /// Whether it is among the readers of the live feed.
        var isLive = false
        var isOver = false
        /// Signals that wait for what came before them.
        var signals: [EncodedEvent] = []

        /// Whether the client was not sent all that the reader was woken for.
        var isBehind: Bool { isReading || isCut || read < woken }
    }

    /// The most items and bytes of one read.
    private static let (itemsAtOnce, bytesAtOnce) = (200, Int64(64 << 10))
    /// The most signals that wait; further ones are dropped.
    private static let signalLimit = 16

    let session: Token.ID
    let showsAllReceipts = true
    private let history: FeedHistory
    private let connection: UserConnection
    private let live: LiveFeed
    private let state: Locked<State>

    init(
        session: Token.ID, after cursor: FeedCursor?, history: FeedHistory,
        _ connection: UserConnection
    ) {
        self.session = session
        self.history = history
        self.connection = connection
        live = connection.api.liveFeeds.feed(of: connection.application)
        state = Locked(State(cursor: cursor))
    }

    private var encoder: FeedEncoder { FeedEncoder(connection) }

    // MARK: - LiveFeed.Reader

    var user: UserID { connection.user }

    var interest: FeedActivity.Interest {
        .page(history, limit: Self.itemsAtOnce, bytes: Self.bytesAtOnce)
    }

    func wake(
        at position: LogPosition, after start: LogPosition, _ content: FeedActivity.Content?
    ) {
        let (stream, isBehind) = state.withLock { state in
            let isBehind = content == nil || state.isBehind
            if isBehind { state.woken = max(state.woken, position) }
            return (state.stream, isBehind)
        }
        guard !isBehind, case .page(let page)? = content else {
            stream?.perform { self.readNext() }
            return
        }
        let event = EncodedEvent.joined(encoder.events(page))
        stream?.perform { self.take(page, event, after: start) }
    }

    /// Sends a page of new events if the client has everything before them; otherwise the next read has them.
    private func take(_ page: FeedPage, _ event: EncodedEvent, after start: LogPosition) {
        let stream = state.withLock { state -> EventStream? in
            let isCurrent =
                !state.isBehind && state.read <= start && state.stream?.isFull == false
            state.woken = max(state.woken, page.end)
            guard isCurrent else { return nil }
            state.cursor = page.cursor
            state.read = page.end
            state.isCut = page.isCut
            return state.stream
        }
        if event.count > 0 { stream?.send(event) }
        readNext()
    }

    func receive(_ signal: Signal) {
        guard let event = encoder.event(signal) else { return }
        let stream = state.withLock { state in state.stream }
        stream?.perform {
            self.state.withLock { state in
                // A client that does not read does not need to know who types.
                if state.stream?.isFull == false, state.signals.count < Self.signalLimit {
                    state.signals.append(event)
                }
            }
            self.sendSignals()
        }
    }

    /// Sends the signals, unless the client is yet to be sent what came before them.
    private func sendSignals() {
        let (stream, signals) = state.withLock { state -> (EventStream?, [EncodedEvent]) in
            guard !state.isBehind, !state.signals.isEmpty else { return (nil, []) }
            defer { state.signals = [] }
            return (state.stream, state.signals)
        }
        for event in signals { stream?.send(event) }
    }

    func end() { state.withLock { state in state.stream }?.close() }

    // MARK: - EventStreamHandler

    func opened(_ stream: EventStream) {
        state.withLock { state in state.stream = stream }
        readNext()
    }

    func drained(_ stream: EventStream) { readNext() }

    func closed(_ stream: EventStream) {
        let isLive = state.withLock { state in
            state.stream = nil
            state.isOver = true
            return state.isLive
        }
        if isLive { live.remove(self) }
    }

    // MARK: - Reading

    /// Reads the next page, unless there is none or the client has not taken the last one.
    private func readNext() {
        let (stream, cursor) = state.withLock { state -> (EventStream?, FeedCursor?) in
            guard let stream = state.stream, !state.isReading, !state.isOver, !stream.isFull,
                state.isCut || state.woken > state.read
            else { return (nil, nil) }
            state.isReading = true
            return (stream, state.cursor)
        }
        guard let stream else { return sendSignals() }
        Task {
            do {
                let store = connection.api.store
                let page = try await store.feed(
                    of: user, after: cursor, history: history, limit: Self.itemsAtOnce,
                    bytes: Self.bytesAtOnce, in: connection.application)
                // Until the stream is among the readers of the live feed, the end of the session is not reported.
                guard
                    try await store.hasSession(Session.ID(session), in: connection.application)
                else { return stream.close() }
                let events = encoder.events(page)
                stream.perform { self.send(page, events, on: stream) }
            } catch {
                // The client reconnects and gets a status.
                live.onFault(error)
                stream.close()
            }
        }
    }

    private func send(_ page: FeedPage, _ events: [EncodedEvent], on stream: EventStream) {
        if !events.isEmpty { stream.send(.joined(events)) }
        let (isReady, isNew) = state.withLock { state -> (Bool, Bool) in
            state.cursor = page.cursor
            state.read = page.end
            state.isCut = page.isCut
            state.isReading = false
            if page.isReset { state.isReady = false }
            let isReady = !page.isCut && !state.isReady
            if isReady { state.isReady = true }
            let isNew = !page.isCut && !state.isLive && !state.isOver
            if isNew { state.isLive = true }
            return (isReady, isNew)
        }
        // A client that has read `ready` misses no signal.
        if isNew {
            live.add(self, at: page.end)
            // An end of the session before that is not reported.
            live.endWithoutSession([self])
        }
        if isReady, let ready = FeedEncoder.ready(at: page.cursor) { stream.send(ready) }
        readNext()
    }
}
