internal import FoundationEssentials
internal import HTTP
internal import JSON
internal import Logging
internal import MessagingWire
internal import SystemSupport

/// Moves the server towards the store and the store towards the server while the client is connected.
///
/// One task follows the feed, another one sends the outbox. Both stop at ``disconnect()``; what they have not done stays
/// in the store.
final class SyncEngine: Sendable {
    /// The version of the API, as the header `Accept` names it.
    static let accept = "application/vnd.layer+json; version=3.0"

    let store: Store
    let session: SessionKeeper
    let transport: TrackedTransport
    let configuration: Configuration
    let log: ClientLog
    private let feedLogger: Logger
    let activity = OutboxActivity()
    let typing = TypingState()
    let connections = Publisher<ConnectionState>.newest
    let failures = Publisher<OperationFailure>.all(atMost: 1000)
    let signals = Publisher<Signal>.all(atMost: 100)
    private let receivedTyping: ReceivedTyping
    private let state = Locked(State())
    private let feedWake = WakeSignal()
    let outboxWake = WakeSignal()

    private struct State {
        var connection = ConnectionState.idle
        var tasks: [Task<Void, Never>] = []
        /// Whether an event stream goes through unbuffered; after one that did not, the feed is polled (K11).
        var streams = true
        /// Whether polling has worked since: then the network is not the reason that a stream sent nothing.
        var hasPolled = false
        /// When a kick or a success has ended all back-offs last.
        var kicks = 0
        /// The number of answered commands, and whether a task waits for the feed to show their effects.
        var answers = 0
        var isConfirming = false
    }

    /// How long a stream may be silent for a kick not to give it up: the server sends a comment every 25 s.
    private static let streamPatienceAtKick = Duration.seconds(30)

    init(
        _ configuration: Configuration, _ store: Store, _ transport: any Transport
    ) {
        self.configuration = configuration
        self.store = store
        self.transport = TrackedTransport(transport)
        receivedTyping = ReceivedTyping(signals)
        log = ClientLog(configuration.logger)
        feedLogger = log.logger(.feed)
        session = SessionKeeper(configuration, self.transport, store, log.logger(.session))
    }

    /// The state of the connection.
    var connection: ConnectionState { state.withLock { state in state.connection } }

    /// How often back-offs were ended.
    var kicks: Int { state.withLock { state in state.kicks } }

    /// Connects, and stays connected until ``disconnect()``; does nothing when it is.
    func connect() {
        state.withLock { state in
            guard state.tasks.isEmpty else { return }
            state.tasks = [
                Task { await self.followFeed() },
                Task { await OutboxSender(self).run() },
            ]
        }
    }

    /// Ends all requests.
    func disconnect() async {
        let tasks = state.withLock { state in
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        enter(.idle)
    }

    /// Ends every back-off, and gives up requests that have no answer.
    func kick() {
        state.withLock { state in state.kicks += 1 }
        session.endDelay()
        transport.kick()
        feedWake.signal()
        outboxWake.signal()
    }

    /// The server can be reached: commands need not wait any longer (K14).
    private func endDelaysOfCommands() {
        state.withLock { state in state.kicks += 1 }
        outboxWake.signal()
    }

    private func enter(_ connection: ConnectionState) {
        let hasChanged = state.withLock { state -> Bool in
            defer { state.connection = connection }
            return state.connection != connection
        }
        guard hasChanged else { return }
        connections.publish(connection)
        if connection == .live { feedLogger.debug("the store has everything") }
    }

    // MARK: - Requests

    /// Sends a request with the session of the user; gets a new session once if the server refuses the present one.
    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        let token = try await session.currentToken()
        let response = try await transport.send(request.authorized(by: token))
        guard response.status == 401 else { return response }
        let next = try await session.newToken(replacing: token, nonce: Self.nonce(response.body))
        return try await transport.send(request.authorized(by: next))
    }

    private func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream
    {
        let token = try await session.currentToken()
        let stream = try await transport.open(request.authorized(by: token))
        guard stream.status == 401 else { return stream }
        var body: [UInt8] = []
        while let bytes = try await stream.next(), body.count < 1 << 16 { body += bytes }
        let next = try await session.newToken(replacing: token, nonce: Self.nonce(body))
        return try await transport.open(request.authorized(by: next))
    }

    private static func nonce(_ body: [UInt8]) -> String? {
        (try? JSONDocument(body))?.root["data"]?["nonce"]?.string
    }

    // MARK: - The feed

    private func followFeed() async {
        var attempt = 0
        while !Task.isCancelled {
            attempt += 1
            enter(.connecting(attempt: attempt))
            let error: ParleyError
            do throws(ParleyError) {
                try await follow { attempt = 0 }
                error = ParleyError(.network, "The event stream has ended.", isTransient: true)
            } catch let failure {
                error = failure
            }
            if Task.isCancelled { break }
            if [.wrongUser, .authenticationFailed, .suspended].contains(error.code) {
                enter(.unauthenticated(error))
            }
            feedLogger.debug("the feed was interrupted", metadata: error.logged)
            // A session is requested at its own time only.
            let delay =
                session.delay
                ?? max(
                    .seconds(error.retryAfter ?? 0),
                    Backoff.delay(attempt: attempt, first: 1, most: 60))
            switch connection {
            case .unauthenticated: break
            default: enter(.waiting(until: Date() + delay / .seconds(1), error))
            }
            await feedWake.wait(atMost: Int64((delay / .milliseconds(1)).rounded(.up)))
        }
    }

    /// Follows the feed by one request until it ends.
    private func follow(_ onLive: () -> Void) async throws(ParleyError) {
        if state.withLock({ state in state.streams }) {
            try await stream(onLive)
        } else {
            enter(.catchingUp)
            while !Task.isCancelled {
                let hasMore: Bool
                do throws(ParleyError) {
                    hasMore = try await poll(wait: connection == .live ? 30 : 0)
                } catch {
                    state.withLock { state in state.streams = !state.hasPolled }
                    throw error
                }
                state.withLock { state in state.hasPolled = true }
                if !hasMore {
                    enter(.live)
                    onLive()
                    endDelaysOfCommands()
                }
            }
        }
    }

    private func stream(_ onLive: () -> Void) async throws(ParleyError) {
        let place = try await feedPlace()
        var request = TransportRequest(method: .get, path: place.path)
        request.headers = [("Accept", "text/event-stream"), ("Accept", Self.accept)]
        request.isStream = true
        request.patienceAtKick = Self.streamPatienceAtKick
        let opening = Task { [request] () async -> Result<any TransportStream, ParleyError> in
            do throws(ParleyError) {
                return .success(try await self.open(request))
            } catch {
                return .failure(error)
            }
        }
        // A proxy that buffers lets nothing through in this time, although the server sends a comment every 25 s (K11).
        let watchdog = Task { [state, patience = configuration.streamPatience] in
            try await Task.sleep(for: patience)
            state.withLock { state in (state.streams, state.hasPolled) = (false, false) }
            opening.cancel()
            if case .success(let stream) = await opening.value { stream.cancel() }
        }
        defer { watchdog.cancel() }
        let result = await withTaskCancellationHandler {
            await opening.value
        } onCancel: {
            opening.cancel()
        }
        let stream = try result.get()
        defer { stream.cancel() }
        guard stream.status == 200 else {
            var body: [UInt8] = []
            while let bytes = try await stream.next(), body.count < 1 << 16 { body += bytes }
            throw try await refusal(
                stream.status, stream.headers, (try? JSONDocument(body))?.root)
        }
        enter(.catchingUp)
        var parser = EventStreamParser()
        var applier = FeedApplier(store, after: place.cursor)
        defer { receivedTyping.endAll() }
        while let bytes = try await stream.next() {
            watchdog.cancel()
            for event in try parser.parse(bytes) {
                if let signal = try applier.add(event) { receivedTyping.receive(signal) }
                if applier.isFull { try await applier.apply() }
                if applier.isAtEnd {
                    try await applier.apply()
                    enter(.live)
                    onLive()
                    endDelaysOfCommands()
                }
            }
            if applier.isDue { try await applier.apply() }
        }
    }

    /// Reads one answer of the feed and applies it.
    ///
    /// - Parameter wait: How long the server may hold an answer without items, in seconds.
    /// - Returns: Whether more follows at once.
    private func poll(wait: Int) async throws(ParleyError) -> Bool {
        let place = try await feedPlace()
        var applier = FeedApplier(store, after: place.cursor)
        return try await applier.apply(answer: try await page(place, wait: wait))
    }

    /// How long a pass leaves the feed to the stream.
    private static let pauseBesideStream = Duration.milliseconds(200)

    /// Reads the feed to its end.
    func catchUp() async throws(ParleyError) {
        while true {
            do throws(ParleyError) {
                return try await pollToEnd()
            } catch {
                // The stream has moved the feed on: what is left is behind it.
                guard error == .feedHasMoved else { throw error }
                try? await Task.sleep(for: Self.pauseBesideStream)
            }
        }
    }

    /// Reads the feed to its end; the next answer is requested while one is applied.
    private func pollToEnd() async throws(ParleyError) {
        var place = try await feedPlace()
        var answer = try await page(place, wait: 0)
        while !Task.isCancelled {
            let following = FeedApplier.cursorOfNext(answer).map(place.moved)
            let next = Task { () async -> Result<JSONValue, ParleyError>? in
                guard let following else { return nil }
                do throws(ParleyError) {
                    return .success(try await page(following, wait: 0))
                } catch {
                    return .failure(error)
                }
            }
            defer { next.cancel() }
            var applier = FeedApplier(store, after: place.cursor)
            _ = try await applier.apply(answer: answer)
            let result = await withTaskCancellationHandler {
                await next.value
            } onCancel: {
                next.cancel()
            }
            guard let following, let result else { return }
            (place, answer) = (following, try result.get())
        }
        throw .cancelled
    }

    /// An answer of the feed with at most as many items as one transaction applies.
    private func page(_ place: FeedPlace, wait: Int) async throws(ParleyError) -> JSONValue {
        let response = try await send(
            TransportRequest(
                method: .get, path: place.path + "&limit=\(FeedApplier.batchSize)&wait=\(wait)",
                headers: [("Accept", Self.accept)]))
        let body = (try? JSONDocument(response.body))?.root
        guard response.status == 200, let body else {
            throw try await refusal(response.status, response.headers, body)
        }
        return body
    }

    /// The error of a refused request for the feed. A cursor that the server cannot read is dropped, so that the next
    /// request starts with a snapshot.
    private func refusal(
        _ status: Int, _ headers: Fields, _ body: JSONValue?
    ) async throws(ParleyError) -> ParleyError {
        var error = ParleyError(status: status, body)
        error.retryAfter = headers.retryAfter
        if status == 422, error.server != nil {
            try await store.write { transaction in try transaction.set("cursor", nil) }
        }
        return error
    }

    // MARK: - Answers

    /// How long the feed has to show the effect of an answered row before it is asked; twice as long after each request.
    private static let confirmationDelay = Duration.seconds(2)
    /// A row that waits longer than this is confirmed by the next change of the feed.
    private static let lastConfirmation = Duration.seconds(60)

    /// The server has answered a command: it can be reached, and the feed has to come to the effect.
    func noteAnswer() {
        // The server may have named a delay for the feed (K14).
        if case .waiting(_, let error) = connection, error.retryAfter == nil { feedWake.signal() }
        let begins = state.withLock { state in
            defer { state.isConfirming = true }
            state.answers += 1
            return !state.isConfirming
        }
        guard begins else { return }
        Task { [weak self] in
            var (answers, first, delay): (Int, Int64?, Duration) = (0, nil, .zero)
            while let mark = self?.beginConfirming(after: answers) {
                answers = mark
                while let row = await self?.firstUnconfirmedAnswer(), delay < Self.lastConfirmation
                {
                    // The feed is on its way to a row that was not here before.
                    if row == first {
                        await self?.confirmAnswers()
                        delay *= 2
                    } else {
                        (first, delay) = (row, Self.confirmationDelay)
                    }
                    try? await Task.sleep(for: delay)
                }
                (first, delay) = (nil, .zero)
            }
        }
    }

    /// - Returns: How many commands were answered; `nil` if none was since, and the task ends.
    private func beginConfirming(after answers: Int) -> Int? {
        state.withLock { state in
            state.isConfirming = state.answers > answers
            return state.isConfirming ? state.answers : nil
        }
    }

    /// The first command that was answered and waits for the feed to come to its effect.
    private func firstUnconfirmedAnswer() async -> Int64? {
        try? await store.read { sql in try StoreTransaction(sql).firstAnsweredRow() }
    }

    /// Deletes answered rows whose effect the feed does not show because it changed nothing for the user: the stream sends
    /// no cursor for that.
    private func confirmAnswers() async {
        guard connection == .live, let place = try? await feedPlace(),
            let response = try? await send(
                TransportRequest(
                    method: .get, path: place.path + "&wait=0", headers: [("Accept", Self.accept)])),
            let body = (try? JSONDocument(response.body))?.root,
            let items = body["items"], items.kind == .array, items.count == 0,
            body["reset"]?.bool == false,
            let position = body["cursor"]?.string.flatMap({ text in FeedPosition(text) })
        else { return }
        try? await store.write { transaction in try transaction.settle(upTo: position) }
    }

    /// From where on the feed is requested.
    private struct FeedPlace: Sendable {
        let history: String
        /// What the client has; `nil` for nothing.
        var cursor: String?

        var path: String {
            let after = cursor.map { cursor in "&after=\(URIComponent.encoded(cursor))" } ?? ""
            return "/events?history=\(history)\(after)"
        }

        /// The place behind an answer.
        func moved(to cursor: String) -> FeedPlace {
            FeedPlace(history: history, cursor: cursor)
        }
    }

    /// The place of the store.
    private func feedPlace() async throws(ParleyError) -> FeedPlace {
        let (cursor, history) = try await store.read { sql in
            let transaction = StoreTransaction(sql)
            return (try transaction.setting("cursor"), try transaction.setting("history"))
        }
        return FeedPlace(history: history ?? configuration.history.parameter, cursor: cursor)
    }
}

extension TransportRequest {
    func authorized(by token: String) -> TransportRequest {
        var request = self
        request.headers.append(("Authorization", "Layer session-token=\"\(token)\""))
        return request
    }
}

/// Delays between attempts: a random time up to a limit that doubles (full jitter).
enum Backoff {
    /// The delay after the nth failure in turn.
    ///
    /// - Parameters:
    ///   - first: The limit after the first failure, in seconds.
    ///   - most: The highest limit, in seconds.
    static func delay(attempt: Int, first: Double, most: Double) -> Duration {
        var limit = first
        for _ in 1..<max(attempt, 1) where limit < most { limit *= 2 }
        return .milliseconds(Int64(Double.random(in: 0...1) * min(limit, most) * 1000))
    }
}
