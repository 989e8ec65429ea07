import HTTP
import Testing

/// How a test reaches the server: by a call, or over a socket.
protocol Door: Sendable {
    func ask(_ request: PlainRequest) async throws -> PlainAnswer
}

/// Calls the service directly: no socket, no octets.
struct RouterDoor: Door {
    let service: any Service
    /// Whether a proxy that is believed is in front of it.
    var isProxied = false

    func ask(_ request: PlainRequest) async throws -> PlainAnswer {
        guard let method = Method(rawValue: request.method) else {
            throw ExchangeFile.Mistake(text: "unknown method \(request.method)")
        }
        let body = request.content
        let head = Request(
            method: method, target: RequestTarget(request.target), fields: Fields(request.fields),
            framing: body.isEmpty ? .none : .length(Int64(body.count)), isProxied: isProxied)
        let answer = service.answer(to: head)
        let response =
            switch answer.outcome {
            case .response(let response): response
            case .work(_, let work): await work(MemoryBody(body))
            case .upgrade(let upgrade): Response(upgrade)
            }
        // What the transport would do: HEAD and 204 carry no content (H68, H89).
        let hides = method == .head || !response.status.allowsContent
        var text = ""
        if !hides, let octets = await response.wholeContent {
            text = String(decoding: octets, as: UTF8.self)
        }
        #expect(response.fields.isValid)
        return PlainAnswer(
            status: response.status.code, fields: response.fields.all, body: text)
    }
}
