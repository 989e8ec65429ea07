import Glibc
import SystemSupport
import TestSupport
import Testing

/// A webhook target on a real socket that handles each request by a test's closure.
final class TestWebhookTarget: Sendable {
    /// A received request.
    struct ReceivedRequest: Sendable {
        let head: String
        let body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }

        /// The names of its headers, in lower case, with repetitions.
        var names: [String] {
            head.split(separator: "\r\n").dropFirst().compactMap { line in
                line.split(separator: ":").first?.lowercased()
            }
        }

        func field(_ name: String) -> String? {
            let start = "\(name): "
            return head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(start) }
                .map { String($0.dropFirst(start.count)) }
        }
    }

    private struct State {
        var requests: [ReceivedRequest] = []
        /// Descriptors of the open connections.
        var open: Set<Int32> = []
    }

    static let noContent = "HTTP/1.1 204 No Content\r\n\r\n"
    private let state: Locked<State>
    private let server: ScriptedServer
    let port: UInt16

    /// - Parameter answer: Handles a delivery; false closes the connection.
    init(_ answer: @escaping @Sendable (ScriptedServer.Connection, ReceivedRequest, Int) -> Bool)
        throws
    {
        let state = Locked(State())
        self.state = state
        server = try ScriptedServer { connection in
            let descriptor = connection.descriptor
            state.withLock { state in _ = state.open.insert(descriptor) }
            // Before the descriptor is closed and its number reused.
            defer { state.withLock { state in _ = state.open.remove(descriptor) } }
            while let head = connection.readHead() {
                if let challenge = Self.challenge(head) {
                    // With `close`, because libcurl would otherwise retry on a closed connection.
                    connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n")
                    connection.write("Content-Length: \(challenge.utf8.count + 1)\r\n\r\n")
                    connection.write(challenge + "\n")
                    return
                }
                let length = ReceivedRequest(head: head, body: []).field("content-length").flatMap {
                    Int($0)
                }
                guard let body = connection.read(length ?? 0) else { return }
                let request = ReceivedRequest(head: head, body: body)
                let number = state.withLock { state in
                    state.requests.append(request)
                    return state.requests.count
                }
                guard answer(connection, request, number) else { return }
            }
        }
        port = server.port
    }

    /// A target that always gives the same response.
    convenience init(answering text: String = noContent) throws {
        try self.init { connection, _, _ in connection.write(text) }
    }

    /// A target that always gives the same response and closes the connection.
    convenience init(closingAfter text: String) throws {
        try self.init { connection, _, _ in
            connection.write(text)
            return false
        }
    }

    deinit {
        // Clients keep connections open, which must not delay the end.
        state.withLock { state in for open in state.open { shutdown(open, Int32(SHUT_RDWR)) } }
    }

    var requests: [ReceivedRequest] { state.withLock { state in state.requests } }
    var url: String { "http://127.0.0.1:\(port)/in?a=b" }

    private static func challenge(_ head: String) -> String? {
        guard head.hasPrefix("GET "), let query = head.split(separator: " ").dropFirst().first,
            let range = query.firstRange(of: "&verification_challenge=")
        else { return nil }
        return String(query[range.upperBound...])
    }
}

/// Waits until a condition is true, for five minutes at most.
func expectSoon(
    _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(300)
    while try await !condition() {
        guard ContinuousClock.now < end else {
            #expect(Bool(false), what, sourceLocation: sourceLocation)
            return
        }
        // Many tests poll at once, and each poll costs time of the others.
        try await Task.sleep(for: .milliseconds(50))
    }
}
