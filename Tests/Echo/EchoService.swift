import HTTP
import HTTPTransport

/// Serves the HTTP layer alone (H213): `/` echoes, `/echo` shows the request's fields, `/sse` counts
/// events, `/ws` echoes messages, `/stream` sends a long content in chunks, `/files/` holds a folder
/// where one was named; everything else is unknown.
final class EchoService: Service {
    private let greeting: Response
    private let limits: EchoLimits
    private let sockets: WebSocketEndpoint
    private let files: StaticFiles?
    private let seats: StreamLimits
    private let clock = EventClock()

    init(greeting: Response, limits: EchoLimits, files: StaticFiles?) {
        self.greeting = greeting
        self.limits = limits
        self.files = files
        sockets = WebSocketEndpoint(limits.sockets)
        seats = StreamLimits(maximum: limits.streams, maximumPerUser: limits.streamsPerUser)
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

    /// What a path offers (H69).
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
                let octets = try await body.collect()
                return Response(.ok, "application/octet-stream", octets)
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

    /// H127.
    private func socket(_ request: Request) -> Answer {
        if request.method == .options { return offer("/ws", [.get, .head, .options]) }
        switch sockets.handshake(request, refusing: refusal) {
        case .refused(let response): return Answer("/ws", response)
        case .valid(let offer):
            do throws(Refusal) {
                let handler = EchoedMessages.everywhere
                return Answer("/ws", offer.accept(handler, seat: try seat(request)))
            } catch {
                return Answer("/ws", refusal(error))
            }
        }
    }

    /// A path that can only be read.
    private func reading(
        _ route: String, _ request: Request, _ response: () -> Response
    ) -> Answer {
        switch request.method {
        case .get, .head: Answer(route, response())
        case .options: offer(route, [.get, .head, .options])
        default: offer(route, [.get, .head, .options], .methodNotAllowed)
        }
    }

    /// H151.
    private func events(_ request: Request) -> Response {
        do throws(Refusal) {
            let last = try LastEventID.read(request).flatMap { id in Int(id) } ?? 0
            let handler = CountedEvents(after: last, clock)
            return EventStream(handler, settings: limits.events, seat: try seat(request)).response
        } catch {
            return refusal(error)
        }
    }

    /// The place of a user who gives a name; the others are not counted (H157).
    private func seat(_ request: Request) throws(Refusal) -> StreamSeat? {
        guard let user = request.fields["X-User"] else { return nil }
        return try seats.admit(user)
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
