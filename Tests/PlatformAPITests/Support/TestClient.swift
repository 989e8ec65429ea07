import Dispatch
import FoundationEssentials
import HTTP
import TestSupport
import Testing

/// Sends requests to the server: by a call or over a socket.
protocol TestClient: Sendable {
    func send(_ request: PlainRequest) async throws -> PlainAnswer
}

/// Calls the service directly, without a socket.
struct RouterClient: TestClient {
    let service: any Service
    /// Whether requests come from a trusted proxy.
    var isProxied = false

    func send(_ request: PlainRequest) async throws -> PlainAnswer {
        guard let method = Method(rawValue: request.method) else {
            throw ExchangeFile.ParseError(text: "unknown method \(request.method)")
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
        // Like the transport: HEAD and 204 have no content (H68, H89).
        let hides = method == .head || !response.status.allowsContent
        var text = ""
        if !hides, let bytes = await response.wholeContent {
            text = String(decoding: bytes, as: UTF8.self)
        }
        #expect(response.fields.isValid)
        return PlainAnswer(
            status: response.status.code, fields: response.fields.all, body: text)
    }
}

/// Sends each request to a random one of several processes.
struct RandomServerClient<Other: TestClient>: TestClient {
    let clients: [Other]

    func send(_ request: PlainRequest) async throws -> PlainAnswer {
        guard let client = clients.randomElement() else {
            throw ExchangeFile.ParseError(text: "no client for \(request.target)")
        }
        return try await client.send(request)
    }
}

/// Adds a new key to each `POST` and `PATCH`.
struct IdempotencyKeyClient<Other: TestClient>: TestClient {
    let client: Other

    func send(_ request: PlainRequest) async throws -> PlainAnswer {
        var request = request
        let hasKey = request.fields.contains { field in field.name == "Idempotency-Key" }
        if request.method == "POST" || request.method == "PATCH", !hasKey {
            request.fields.append(("Idempotency-Key", UUID().uuidString))
        }
        return try await client.send(request)
    }
}

/// A blocking HTTP client with one connection per request, read until the server closes it.
struct SocketClient: TestClient {
    let port: UInt16

    func send(_ request: PlainRequest) async throws -> PlainAnswer {
        // Blocking calls must not run on Swift's thread pool.
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try exchange(request) })
            }
        }
    }

    private func exchange(_ request: PlainRequest) throws -> PlainAnswer {
        let connection = try ClientConnection(port: port)
        try connection.send(bytes(of: request))
        var received: [UInt8] = []
        while true {
            let more = try connection.receive()
            guard !more.isEmpty else { return try PlainAnswer(bytes: received) }
            received += more
        }
    }

    private func bytes(of request: PlainRequest) -> [UInt8] {
        var text = "\(request.method) \(request.target) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for field in request.fields { text += "\(field.name): \(field.value)\r\n" }
        let body = request.content
        if !body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) {
            text += "Content-Length: \(body.count)\r\n"
        }
        return Array((text + "Connection: close\r\n\r\n").utf8) + body
    }
}

extension PlainAnswer {
    /// Parses a response that ends with its connection.
    init(bytes: [UInt8]) throws {
        let blank = Array("\r\n\r\n".utf8)
        let end = bytes.indices.first { bytes[$0...].starts(with: blank) } ?? bytes.count
        try self.init(head: String(decoding: bytes[..<end], as: UTF8.self))
        let content = Array(bytes[end...].dropFirst(4))
        body = String(
            decoding: fields.contains { $0.value == "chunked" }
                ? try Self.joined(content) : content, as: UTF8.self)
    }

    /// Parses the head of a response.
    init(head: String) throws {
        let head = head.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        let words = head[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw SocketError(call: "parse \(head[0])", code: 0)
        }
        self.status = status
        fields = head.dropFirst().compactMap { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            guard colon < line.endIndex else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (String(line[..<colon]), String(value))
        }
        body = ""
    }

    /// The content of a chunked body (RFC 9112 §7.1).
    private static func joined(_ chunked: [UInt8]) throws -> [UInt8] {
        var (rest, whole) = (chunked[...], [UInt8]())
        while true {
            let digits = rest.prefix { byte in byte != 0x0D }
            guard let count = Int(String(decoding: digits, as: UTF8.self), radix: 16),
                rest.count >= digits.count + 2 + count + 2
            else { throw SocketError(call: "read a chunk", code: 0) }
            rest = rest.dropFirst(digits.count + 2)
            whole += rest.prefix(count)
            rest = rest.dropFirst(count + 2)
            if count == 0 { return whole }
        }
    }
}
