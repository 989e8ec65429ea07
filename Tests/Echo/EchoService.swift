import HTTP
import HTTPTransport
import Synchronization
import WebSockets

/// A service that exercises the HTTP layer alone (H213): `/` echoes, `/echo` returns the request's
/// header fields, `/sse` counts events, `/ws` echoes messages, `/stream` sends long chunked
/// content, `/files/` serves a folder if one was given; other paths are unknown.
final class EchoService: Service {
    private let greeting: Response
    private let limits: EchoLimits
    private let sockets: WebSocketEndpoint
    private let files: StaticFiles?
    private let slots: StreamLimits
    private let clock = EventClock()

    init(greeting: Response, limits: EchoLimits, files: StaticFiles?) {
        self.greeting = greeting
        self.limits = limits
        self.files = files
        sockets = WebSocketEndpoint(limits.sockets)
        slots = StreamLimits(maximum: limits.streams, maximumPerUser: limits.streamsPerUser)
        clock.start(every: limits.eventInterval)
    }

    func answer(to request: Request) -> Answer {
        switch request.target.path {
        case "/" where request.method == .options: offer("/", Method.allCases)
        case "/": root(request)
        case "/echo" where request.method == .options: offer("/echo", Method.allCases)
        case "/echo": Answer("/echo", fields(of: request))
        case "/sse": reading("/sse", request) { events(request) }
        case "/ws": socket(request)
        case "/stream": reading("/stream", request, stream)
        default: files?.answer(to: request) ?? unknown(request)
        }
    }

    private func unknown(_ request: Request) -> Answer {
        switch Result(catching: request.target.segments) {
        case .failure(.malformed): Answer("", Response(.badRequest, "text/plain", []))
        case .failure(.tooLong): Answer("", Response(.targetTooLong, "text/plain", []))
        case .success: Answer("", Response(.notFound, "text/plain", []))
        }
    }

    /// Answers `OPTIONS` with the methods of a path (H69).
    private func offer(
        _ route: String, _ methods: [Method], _ status: Status = .noContent
    ) -> Answer {
        var response = Response(status)
        response.fields.add("Allow", methods.map(\.rawValue).joined(separator: ", "))
        return Answer(route, response)
    }

    private func root(_ request: Request) -> Answer {
        guard request.framing.announcesContent else { return Answer("/", greeting) }
        return Answer("/", BodyPolicy(limit: limits.body)) { body in
            do throws(BodyError) {
                let bytes = try await body.collect()
                return Response(.ok, "application/octet-stream", bytes)
            } catch {
                return switch error {
                case .refused(let refusal): self.refusal(refusal)
                case .stalled: Response(.requestTimeout, ending: .close)
                case .interrupted:
                    self.refusal(Refusal(.badRequest, "H51", "The body ended early."))
                case .superseded: .dropped
                }
            }
        }
    }

    private func fields(of request: Request) -> Response {
        let lines = request.fields.all.map { field in "\(field.name): \(field.value)\n" }
        return Response(.ok, "text/plain; charset=utf-8", Array(lines.joined().utf8))
    }

    /// Opens a WebSocket (H127).
    private func socket(_ request: Request) -> Answer {
        if request.method == .options { return offer("/ws", [.get, .head, .options]) }
        switch sockets.handshake(request, refusing: refusal) {
        case .refused(let response): return Answer("/ws", response)
        case .valid(let offer):
            do throws(Refusal) {
                let handler = EchoedMessages.shared
                return Answer("/ws", offer.accept(handler, slot: try slot(request)))
            } catch {
                return Answer("/ws", refusal(error))
            }
        }
    }

    /// Answers a path that supports only `GET` and `HEAD`.
    private func reading(
        _ route: String, _ request: Request, _ response: () -> Response
    ) -> Answer {
        switch request.method {
        case .get, .head: Answer(route, response())
        case .options: offer(route, [.get, .head, .options])
        default: offer(route, [.get, .head, .options], .methodNotAllowed)
        }
    }

    /// Opens an event stream (H151).
    private func events(_ request: Request) -> Response {
        do throws(Refusal) {
            let last = try LastEventID.read(request).flatMap { id in Int(id) } ?? 0
            let handler = CountedEvents(after: last, clock)
            return EventStream(handler, settings: limits.events, slot: try slot(request)).response
        } catch {
            return refusal(error)
        }
    }

    /// A stream slot for a client that sends `X-User`; others are not counted (H157).
    private func slot(_ request: Request) throws(Refusal) -> StreamSlot? {
        guard let user = request.fields["X-User"] else { return nil }
        return try slots.admit(user)
    }

    private func stream() -> Response {
        let limits = limits
        let content = Content.written { writer in
            let piece = [UInt8](repeating: UInt8(ascii: "x"), count: limits.streamPiece)
            var left = limits.streamLength
            while left > 0 {
                let count = Int(min(left, Int64(piece.count)))
                try await writer.write(count == piece.count ? piece : Array(piece[..<count]))
                left -= Int64(count)
            }
        }
        var response = Response(.ok, content: content)
        response.fields.add("Content-Type", "application/octet-stream")
        return response
    }
}

/// Echoes every message of `/ws`.
final class EchoedMessages: WebSocketHandler {
    /// Stateless, so one instance serves all sockets.
    static let shared = EchoedMessages()

    func opened(_ socket: WebSocket) {}
    func received(_ message: WebSocketMessage, on socket: WebSocket) { socket.send(message) }
    func closed(_ socket: WebSocket, _ code: CloseCode) {}
}

/// A stream of increasing numbers for `/sse`.
final class CountedEvents: EventStreamHandler {
    /// The number of the last event.
    private let number: Atomic<Int>
    private let clock: EventClock

    /// Starts after a number, such as that of `Last-Event-ID` (H154).
    init(after number: Int, _ clock: EventClock) {
        self.number = Atomic(number)
        self.clock = clock
    }

    func opened(_ stream: EventStream) {
        clock.add(stream) { [self] in
            let next = number.add(1, ordering: .relaxed).newValue
            if let event = EncodedEvent(data: "\(next)", id: "\(next)") { stream.send(event) }
        }
    }

    func closed(_ stream: EventStream) { clock.remove(stream) }
}

/// One timer for all event streams, so that ten thousand idle streams do not need a timer each.
final class EventClock: Sendable {
    typealias Tick = @Sendable () -> Void

    private let ticks = Mutex<[ObjectIdentifier: Tick]>([:])

    /// Calls every registered closure at this interval in milliseconds, until the process ends.
    func start(every interval: Int64) {
        Task { [self] in
            while true {
                try await Task.sleep(for: .milliseconds(interval))
                for tick in ticks.withLock({ ticks in Array(ticks.values) }) { tick() }
            }
        }
    }

    func add(_ stream: EventStream, _ tick: @escaping Tick) {
        ticks.withLock { ticks in ticks[ObjectIdentifier(stream)] = tick }
    }

    func remove(_ stream: EventStream) {
        ticks.withLock { ticks in ticks[ObjectIdentifier(stream)] = nil }
    }
}
