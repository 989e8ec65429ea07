import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import Synchronization
import SystemSupport
import Uploads
import WebSockets

/// One WebSocket of the user of a session (client-api §5): it answers requests and sends the changes that the user sees.
///
/// It takes one step at a time: a request, a page of changes, or a page of a replay. The packets of a step are sent as far
/// as the client takes them, and the next step begins after the last one. So the response to a request comes before the
/// changes that it made, and a slow client costs one page of memory and misses nothing. Only responses that refuse
/// further requests are sent beside the steps: a client that does not read them is disconnected.
final class ClientSocket: WebSocketHandler, LiveFeed.Reader {
    /// A requested replay (client-api §5.6).
    private struct Replay {
        var position: LogPosition
        let end: LogPosition
        /// The latest time that was sent.
        var time: Timestamp
        let response: SocketResponse
    }

    private enum Step {
        case packet([UInt8])
        case changes(after: LogPosition)
        case replay(Replay)
    }

    private struct State {
        var socket: WebSocket?
        /// The counter of the last packet.
        var counter: Int64 = -1
        var requests: [[UInt8]] = []
        var requestBytes = 0
        var replays: [Replay] = []
        /// The changes up to this position were sent.
        var position = LogPosition.start
        /// The position that the socket was woken for.
        var woken = LogPosition.start
        /// The time of the last packet: a replay from there misses nothing (client-api §5.6).
        var time = Timestamp(milliseconds: 0)
        var isStarted = false
        /// Whether a step is under way.
        var isBusy = false
        /// The packets of the step that the client has not taken yet.
        var outputs: ArraySlice<SocketOutput> = []
        /// What follows when all of them were sent; `nil` while the step makes them.
        var completion: (@Sendable (inout State) -> Void)?
        /// Whether the last step was a request: others come in between.
        var wasRequest = false
        var isSubscribed = false
        var isLive = false
        var isOver = false
        /// Signals that wait for the changes before them.
        var signals: [SocketOutput] = []

        /// Removes and returns the next packet of the step; `nil` if there is none, or the client is behind.
        mutating func nextOutput() -> SocketOutput? {
            socket?.isFull == false ? outputs.popFirst() : nil
        }

        /// Drops all that is still to be done.
        mutating func stop() {
            socket = nil
            requests = []
            replays = []
            outputs = []
            completion = nil
            signals = []
        }

        /// Whether changes were not sent that the socket was woken for.
        var isBehind: Bool { isBusy || position < woken }

        /// Notes that the changes of a page were sent.
        mutating func advance(to page: UserChangePage) {
            position = max(position, page.through)
            if let latest = page.latest { time = max(time, latest) }
        }

        mutating func follow(_ followup: Followup) {
            switch followup {
            case .none: break
            case .subscribed: isSubscribed = true
            case .replay(let start, let response):
                replays.append(
                    Replay(
                        position: start, end: position, time: Timestamp(milliseconds: 0),
                        response: response))
            }
        }
    }

    /// The most requests that wait, and the most bytes of them beside one.
    private static let (requestLimit, requestBytes) = (256, 1 << 20)
    /// The most signals that wait; further ones are dropped.
    private static let signalLimit = 16
    /// How long a commit may take, in milliseconds: events with an earlier time are known.
    private static let commitTime: Int64 = 60_000

    let session: Token.ID
    let showsAllReceipts = false
    let connection: UserConnection
    private let token: SessionToken
    private let expiresAt: Timestamp
    private let live: LiveFeed
    private let state = Locked(State())

    init(
        of session: Session, token: SessionToken, _ connection: UserConnection
    ) {
        self.session = Token.ID(session.id)
        self.connection = connection
        self.token = token
        expiresAt = session.expiresAt
        live = connection.api.liveFeeds.feed(of: connection.application)
        api.sockets.add(1, ordering: .relaxed)
    }

    deinit { api.sockets.subtract(1, ordering: .relaxed) }

    var user: UserID { connection.user }
    var application: Application.ID { connection.application }
    var version: APIVersion { connection.version }
    var api: PlatformAPI { connection.api }

    /// A request over HTTP with the session of the socket.
    func request(_ method: Method, _ path: String, count: Int) -> Request {
        let handshake = connection.request
        let accept = "application/vnd.layer+json; version=\(version.rawValue)"
        let token = String(decoding: token.bytes, as: UTF8.self)
        return Request(
            method: method, target: RequestTarget(path),
            fields: Fields([
                ("Accept", accept), ("Content-Type", "application/json"),
                ("Authorization", "Layer session-token=\"\(token)\""),
            ]), framing: .length(Int64(count)), id: handshake.id, peer: handshake.peer,
            scheme: handshake.scheme, isProxied: handshake.isProxied,
            forwardedHost: handshake.forwardedHost)
    }

    // MARK: - LiveFeed.Reader

    var interest: FeedActivity.Interest { .changes }

    func wake(
        at position: LogPosition, after start: LogPosition, _ content: FeedActivity.Content?
    ) {
        let (socket, isBehind) = state.withLock { state in (state.socket, state.isBehind) }
        guard !isBehind, case .changes(let page)? = content else {
            socket?.perform { self.take(nil, [], after: start, to: position) }
            return
        }
        let outputs = outputs(page.changes, isReplayed: false)
        socket?.perform { self.take(page, outputs, after: start, to: position) }
    }

    /// Takes a step with the changes of new events if everything before them was sent; otherwise a later step reads them.
    private func take(
        _ page: UserChangePage?, _ outputs: [SocketOutput], after start: LogPosition,
        to end: LogPosition
    ) {
        let taken = state.withLock { state -> UserChangePage? in
            // Nothing between the last events and these concerned the user.
            if !state.isBehind { state.position = max(state.position, start) }
            let isCurrent =
                !state.isBehind && state.position <= start && state.isStarted
                && state.replays.isEmpty && state.socket?.isFull == false
            state.woken = max(state.woken, end)
            guard isCurrent, let page else { return nil }
            state.isBusy = true
            return page
        }
        guard let taken else { return proceed() }
        finish(outputs) { state in state.advance(to: taken) }
    }

    func receive(_ signal: Signal) {
        let (socket, isSubscribed) = state.withLock { state in (state.socket, state.isSubscribed) }
        let output: SocketOutput
        switch signal {
        case .typing: output = .signal(FeedEncoder(connection).body(signal))
        case .presence(let presence):
            guard isSubscribed, version.namesIdentities else { return }
            output = .presence(FeedEncoder(connection).body(presence))
        }
        socket?.perform {
            self.state.withLock { state in
                // A client that does not read does not need to know who types.
                if state.isStarted, state.socket?.isFull == false,
                    state.signals.count < Self.signalLimit
                {
                    state.signals.append(output)
                }
            }
            self.sendSignals()
        }
    }

    /// Sends the signals, unless the client is yet to be sent what came before them.
    private func sendSignals() {
        let signals = state.withLock { state -> [SocketOutput] in
            guard !state.isBehind, !state.signals.isEmpty else { return [] }
            defer { state.signals = [] }
            return state.signals
        }
        for output in signals { send(output) }
    }

    func end() { state.withLock { state in state.socket }?.close(.sessionEnded, "session ended") }

    // MARK: - WebSocketHandler

    func opened(_ socket: WebSocket) {
        state.withLock { state in state.socket = socket }
        socket.expire(in: max(0, expiresAt.milliseconds - api.clock().milliseconds))
        Task {
            do {
                let (end, at) = try await api.store.latestEvent(in: application)
                let now = api.clock()
                socket.perform { self.start(at: end, at ?? now) }
            } catch {
                live.onFault(error)
                socket.close(.internalError)
            }
        }
    }

    private func start(at position: LogPosition, _ time: Timestamp) {
        let isOver = state.withLock { state in
            state.position = position
            state.woken = position
            state.time = time
            state.isStarted = true
            state.isLive = !state.isOver
            return state.isOver
        }
        guard !isOver else { return }
        live.add(self, at: position)
        // An end of the session before that is not reported.
        live.endWithoutSession([self])
        proceed()
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        guard case .text(let bytes) = message else { return }
        let isTaken = state.withLock { state in
            guard state.requests.count < Self.requestLimit,
                state.requests.isEmpty || state.requestBytes + bytes.count <= Self.requestBytes
            else { return false }
            state.requests.append(bytes)
            state.requestBytes += bytes.count
            return true
        }
        if isTaken { return proceed() }
        if let packet = SocketPacket(bytes) { send(refusal(of: packet)) }
    }

    func drained(_ socket: WebSocket) { sendOutputs() }

    func closed(_ socket: WebSocket, _ code: CloseCode) {
        let isLive = state.withLock { state in
            state.stop()
            state.isOver = true
            return state.isLive
        }
        if isLive { live.remove(self) }
    }

    // MARK: - Steps

    /// Takes the next step, unless one is under way or the client has not taken what was sent.
    private func proceed() {
        let next = state.withLock { state -> (WebSocket, Step)? in
            guard let socket = state.socket, state.isStarted, !state.isBusy, !socket.isFull,
                let step = Self.next(&state)
            else { return nil }
            state.isBusy = true
            return (socket, step)
        }
        guard let (socket, step) = next else { return sendSignals() }
        Task {
            do {
                try await take(step, socket)
            } catch {
                // The client reconnects and asks for a replay.
                live.onFault(error)
                socket.close(.internalError)
            }
        }
    }

    private static func next(_ state: inout State) -> Step? {
        let wasRequest = state.wasRequest
        state.wasRequest = false
        if wasRequest, let step = nextChanges(state) { return step }
        guard !state.requests.isEmpty else { return nextChanges(state) }
        let bytes = state.requests.removeFirst()
        state.requestBytes -= bytes.count
        state.wasRequest = true
        return .packet(bytes)
    }

    /// Changes wait until a replay of earlier ones is done.
    private static func nextChanges(_ state: State) -> Step? {
        if let replay = state.replays.first { return .replay(replay) }
        return state.woken > state.position ? .changes(after: state.position) : nil
    }

    private func take(_ step: Step, _ socket: WebSocket) async throws {
        switch step {
        case .packet(let bytes):
            guard let packet = SocketPacket(bytes) else {
                return socket.perform { self.finish([]) { _ in } }
            }
            let (outputs, followup) = await perform(packet)
            socket.perform {
                self.finish(outputs) { state in state.follow(followup) }
            }
        case .changes(let position):
            let page = try await api.store.changes(of: user, after: position, in: application)
            let outputs = outputs(page.changes, isReplayed: false)
            socket.perform {
                self.finish(outputs) { state in
                    // Without progress the next event wakes the socket again.
                    if page.through <= position { state.woken = position }
                    state.advance(to: page)
                }
            }
        case .replay(var replay):
            let page = try await api.store.changes(
                of: user, after: replay.position, through: replay.end, in: application)
            var outputs = outputs(page.changes, isReplayed: true, from: &replay.time)
            let isDone = page.through >= replay.end || !page.isCut
            replay.position = page.through
            if isDone { outputs.append(.response(replay.response)) }
            socket.perform { [replay, outputs] in
                self.finish(outputs) { state in
                    if isDone { state.replays.removeFirst() } else { state.replays[0] = replay }
                }
            }
        }
    }

    /// Ends a step with its packets.
    ///
    /// - Parameter completion: What follows when all of them were sent.
    private func finish(
        _ outputs: [SocketOutput], _ completion: @escaping @Sendable (inout State) -> Void
    ) {
        state.withLock { state in
            // Nothing follows once the socket is closing.
            guard state.socket != nil else { return }
            state.outputs = outputs[...]
            state.completion = completion
        }
        sendOutputs()
    }

    /// Sends the packets of the step as far as the client takes them; after the last one takes the next step.
    private func sendOutputs() {
        while let output = state.withLock({ state in state.nextOutput() }) { send(output) }
        state.withLock { state in
            guard state.outputs.isEmpty, let completion = state.completion else { return }
            state.outputs = []
            state.completion = nil
            completion(&state)
            state.isBusy = false
        }
        proceed()
    }

    // MARK: - Packets

    private func outputs(_ changes: [UserChange], isReplayed: Bool) -> [SocketOutput] {
        var time = Timestamp(milliseconds: 0)
        return outputs(changes, isReplayed: isReplayed, from: &time)
    }

    private func outputs(
        _ changes: [UserChange], isReplayed: Bool, from time: inout Timestamp
    ) -> [SocketOutput] {
        guard !changes.isEmpty else { return [] }
        let encoder = FeedEncoder(connection)
        var outputs: [SocketOutput] = []
        for change in changes {
            time = max(time, change.at)
            for operation in change.operations {
                for packet in encoder.packets(operation) {
                    outputs.append(
                        .change(
                            packet.type, packet.body, at: time, isReplayed: isReplayed,
                            hasLinks: operation.hasLinks))
                }
            }
        }
        return outputs
    }

    /// Sends a packet; on the loop, so that counters are in the order of packets.
    private func send(_ output: SocketOutput) {
        switch output {
        case .change(let type, let body, let at, let isReplayed, let hasLinks):
            let time = state.withLock { state in
                guard !isReplayed else { return at }
                state.time = max(state.time, at)
                return state.time
            }
            send(type.rawValue, body, time, isCompressed: !hasLinks)
        case .response(let response):
            guard let body = response.body() else { return }
            send("response", body, coveredTime(), isCompressed: false)
        case .counter(let response):
            let last = state.withLock { state in state.counter }
            guard let body = response.body(data: Array("{\"counter\":\(last)}".utf8)) else {
                return
            }
            send("response", body, coveredTime(), isCompressed: false)
        // Not stored, so its time promises no more than that of a signal.
        case .presence(let body): send("change", body, coveredTime(), isCompressed: false)
        case .signal(let body): send("signal", body, coveredTime(), isCompressed: false)
        case .end: end()
        }
    }

    /// The time up to which the socket has sent all changes: a client that is replayed from there misses nothing.
    private func coveredTime() -> Timestamp {
        let now = api.clock().milliseconds
        return state.withLock { state in
            if state.woken <= state.position {
                state.time = max(
                    state.time, Timestamp(milliseconds: max(0, now - Self.commitTime)))
            }
            return state.time
        }
    }

    private func send(_ type: String, _ body: [UInt8], _ time: Timestamp, isCompressed: Bool) {
        let next = state.withLock { state -> (WebSocket, Int64)? in
            guard let socket = state.socket else { return nil }
            state.counter += 1
            return (socket, state.counter)
        }
        guard let (socket, counter) = next else { return }
        var writer = JSONWriter(capacity: body.count + 128)
        writer.object { writer in
            writer.member("type", type)
            writer.member("counter", counter)
            writer.member("timestamp", TimestampJSON.text(time))
            writer.member("body", raw: body)
        }
        let message = WebSocketMessage.text(writer.finish())
        // Compression could reveal the secret of a link (H115).
        let isTaken =
            isCompressed ? socket.send(message) : socket.send(EncodedMessage(message))
        // The socket is closing, as when its session ends: no further page is read for it.
        if !isTaken { state.withLock { state in state.stop() } }
    }
}
