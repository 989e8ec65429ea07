import TestSupport

/// Sends requests over sockets, and keeps the WebSockets and event streams that exchanges open (``ExchangeFile``).
final class LiveClient: TestClient, @unchecked Sendable {
    // Sendable because a test uses it in one task.

    private enum Connection {
        case socket(WebSocketClient)
        case stream(LiveStream)
    }

    private let port: UInt16
    private var connections: [String: Connection] = [:]

    init(port: UInt16) { self.port = port }

    func send(_ request: PlainRequest) async throws -> PlainAnswer {
        switch request.method {
        case "OPEN":
            let words = request.target.split(separator: " ").map(String.init)
            guard words.count == 2 else {
                throw ExchangeFile.ParseError(text: "no name or path in \(request.target)")
            }
            return try await open(words[0], words[1], request.fields)
        case "SEND":
            guard case .socket(let socket)? = connections[request.target] else {
                throw ExchangeFile.ParseError(text: "no socket \(request.target)")
            }
            try await socket.send(request.body.withoutInsignificantSpace)
            return .none
        default: return try await SocketClient(port: port).send(request)
        }
    }

    private func open(
        _ name: String, _ target: String, _ fields: [(name: String, value: String)]
    ) async throws -> PlainAnswer {
        let lines = fields.map { field in "\(field.name): \(field.value)\r\n" }.joined()
        let head: String
        if fields.contains(where: { field in field.value == "text/event-stream" }) {
            let stream = try LiveStream(
                port: port, "GET \(target) HTTP/1.1\r\nHost: a\r\n\(lines)\r\n")
            try await stream.opened()
            head = stream.head
            connections[name] = .stream(stream)
        } else {
            let socket = try WebSocketClient(
                port: port, target: target, protocols: nil, fields: lines)
            head = socket.head
            connections[name] = .socket(socket)
        }
        return try PlainAnswer(head: head)
    }

    /// The text of what a socket or a stream receives next, without white space between tokens.
    func next(_ name: String) async throws -> String {
        switch connections[name] {
        case .socket(let socket)?:
            guard let frame = try await socket.next() else { return "end" }
            return frame.closeCode.map { code in "close\(code)" } ?? frame.text
        case .stream(let stream)?:
            guard let event = try await stream.next(1).first else { return "end" }
            let id = event.cursor.isEmpty ? "" : "id: \(event.cursor)"
            return "event: \(event.type)\n\(id)\ndata: \(event.data)".withoutInsignificantSpace
        case nil: throw ExchangeFile.ParseError(text: "nothing open with the name \(name)")
        }
    }
}
