import HTTP

/// Serves the HTTP layer alone (H213): `/` echoes, `/echo` shows the request's fields, everything
/// else is unknown.
final class EchoService: Service {
    /// What `GET /` answers when there is nothing to echo.
    let greeting: Response
    let bodyLimit: Int64

    init(greeting: Response, bodyLimit: Int64) {
        self.greeting = greeting
        self.bodyLimit = bodyLimit
    }

    func answer(to request: Request) -> Answer {
        switch request.target.path {
        case "/": root(request)
        case "/echo" where request.method == .options: Answer("/echo", offer)
        case "/echo": Answer("/echo", fields(of: request))
        default:
            switch Result(catching: request.target.segments) {
            case .failure(.malformed): Answer("", Response(.badRequest, "text/plain", []))
            case .failure(.tooLong): Answer("", Response(.targetTooLong, "text/plain", []))
            case .success: Answer("", Response(.notFound, "text/plain", []))
            }
        }
    }

    /// What both paths offer (H69).
    private var offer: Response {
        var response = Response(.noContent)
        response.fields.add("Allow", Method.allCases.map(\.rawValue).joined(separator: ", "))
        return response
    }

    private func root(_ request: Request) -> Answer {
        if request.method == .options { return Answer("/", offer) }
        guard request.framing.announcesContent else { return Answer("/", greeting) }
        return Answer("/", BodyPolicy(limit: bodyLimit)) { body in
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
}
