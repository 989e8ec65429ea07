import FoundationEssentials
import FoundationNetworking
import HTTP
import JSON
import Logging
import SQL
import SystemSupport
import TestSupport

@testable import ParleyKit
@testable import ParleyKitURLSession

/// A server process with its own data folder, which ends with this object, and the clients of its users.
final class KitServer: Sendable {
    static let application = "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"
    /// The token of the application, as `Tests/Crash/server.py` has it.
    private static let token = "crash-test-token-0123456789"

    let port: UInt16
    /// What its clients have logged.
    let log = KeptLog()
    private let process: HelperProcess
    private let folder = TemporaryFolder()

    init(_ settings: [String] = []) throws {
        process = HelperProcess("parley_server.py", by: "python3")
        let answer = process.send(([Self.binary] + settings).joined(separator: " "))
        guard let port = answer.split(separator: " ").last.flatMap({ UInt16($0) }) else {
            throw Failure(text: "no server: \(answer)")
        }
        self.port = port
    }

    struct Failure: Error {
        let text: String
    }

    /// The server that was built with these tests.
    private static var binary: String {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return "/" + (tests.split(separator: "/").dropLast() + ["parley"]).joined(separator: "/")
    }

    func kill() { expectEqual(process.send("kill"), "killed") }

    func start() { expectEqual(process.send("start"), "ready \(port)") }

    /// Replaces the server by an empty one.
    func replace() { expectEqual(process.send("replace"), "ready \(port)") }

    /// Backs up the running server.
    func backUp() { expectEqual(process.send("backup"), "saved") }

    /// Replaces the server by what was backed up.
    func restore() { expectEqual(process.send("restore"), "ready \(port)") }

    /// Sends a request of the Platform API, which must succeed, and returns the body of its answer.
    @discardableResult
    func request(
        _ method: HTTP.Method, _ path: String, _ body: String? = nil,
        type: String = "application/json"
    ) async throws -> [UInt8] {
        let transport = try CurlTransport(server: configuration("").server, transfers: 1)
        let answer = try await transport.send(
            TransportRequest(
                method: method, path: "/apps/\(Self.application)\(path)",
                headers: [
                    ("Accept", SyncEngine.accept), ("Content-Type", type),
                    ("Authorization", "Bearer \(Self.token)"),
                ], body: body.map { body in Array(body.utf8) }))
        guard (200..<300).contains(answer.status) else {
            throw Failure(
                text:
                    "\(method) \(path): \(answer.status) \(String(decoding: answer.body, as: UTF8.self))"
            )
        }
        return answer.body
    }

    /// The same for an answer in JSON.
    @discardableResult
    func json(
        _ method: HTTP.Method, _ path: String, _ body: String? = nil,
        type: String = "application/json"
    ) async throws -> JSONValue {
        try JSONDocument(try await request(method, path, body, type: type)).root
    }

    /// The configuration of a device of a user.
    ///
    /// - Parameters:
    ///   - device: The name of the device; each has its own store.
    ///   - port: The port of a proxy; by default that of the server.
    func configuration(
        _ user: UserID, device: String = "phone", through port: UInt16? = nil,
        history: History = .all
    ) -> Configuration {
        var configuration = Configuration(
            server: URL(string: "http://127.0.0.1:\(port ?? self.port)") ?? URL(filePath: "/"),
            application: Self.application,
            store: URL(filePath: "\(folder.path)/\(user.text)-\(device)"), developmentUser: user)
        configuration.history = history
        configuration.onPrepare = StatementPlans.clientObserver
        configuration.logger = Logger(label: "\(user.text)-\(device)") { [log] label in
            KeptLog.Handler(log: log, label: label)
        }
        return configuration
    }

    /// A device of a user that has a session, not connected yet.
    func client(
        _ user: UserID, device: String = "phone", history: History = .all
    ) async throws -> ParleyClient {
        let client = try await openClient(configuration(user, device: device, history: history))
        try await client.authenticate()
        return client
    }
}

/// The last lines that clients have logged, for the text of a failure.
final class KeptLog: Sendable {
    private let lines = Locked<[String]>([])

    var text: String { lines.withLock { lines in lines.suffix(40).joined(separator: "\n") } }

    struct Handler: LogHandler {
        let log: KeptLog
        let label: String
        var logLevel = Logger.Level.debug
        var metadata: Logger.Metadata = [:]

        init(log: KeptLog, label: String) {
            self.log = log
            self.label = label
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.lines.withLock { lines in
                lines.append("\(label): \(event.message) \(event.metadata ?? [:])")
                if lines.count > 1000 { lines.removeFirst(500) }
            }
        }
    }
}

/// Opens a client with the transport of these tests.
func openClient(_ configuration: Configuration) async throws -> ParleyClient {
    try await ParleyClient(configuration, try openTransport(configuration))
}

/// The transport of these tests: that of `PARLEYKIT_TRANSPORT` (`curl` or `urlsession`), by default that of Linux.
func openTransport(_ configuration: Configuration) throws -> any Transport {
    switch ProcessInfo.processInfo.environment["PARLEYKIT_TRANSPORT"] {
    case "urlsession":
        URLSessionTransport(server: configuration.server, transfers: 9, .ephemeral)
    case "curl", nil: try CurlTransport(server: configuration.server, transfers: 9)
    case let name?: throw KitServer.Failure(text: "there is no transport \(name)")
    }
}

/// Fails the process when a helper does not answer as it should: no test could go on.
private func expectEqual(_ answer: String, _ expected: String) {
    precondition(answer == expected, "\(answer) instead of \(expected)")
}

/// Waits until a condition holds; fails when the time is over.
///
/// - Parameter explain: Says why it does not hold.
func eventually(
    _ what: String, within limit: Duration = .seconds(120), _ condition: () async throws -> Bool,
    explain: () async throws -> String = { "" }
) async throws {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw KitServer.Failure(text: "not within \(limit): \(what) \(try await explain())")
}

extension ParleyClient {
    /// All messages of a conversation as texts, in their order.
    func texts(in id: Conversation.ID) async throws -> [String] {
        try await messages(in: id).map { message in message.parts.first?.text ?? "" }
    }

    /// All messages of a conversation, in their order.
    func messages(in id: Conversation.ID) async throws -> [Message] {
        try await read { reader in
            let ids = try reader.transaction.rows(
                """
                /* test */ SELECT id FROM messages
                WHERE conversation = \(id.bytes) AND is_hidden = 0 ORDER BY place
                """
            ) { row in Message.ID(stored: try row.blob("id")) }
            var messages: [Message] = []
            for id in ids.compactMap(\.self) {
                if let message = try reader.message(id) { messages.append(message) }
            }
            return messages
        }
    }

    /// All conversations, the last active first.
    func conversations() async throws -> [Conversation] {
        try await read { reader in
            let ids = try reader.transaction.rows(
                "/* test */ SELECT id FROM conversations WHERE is_hidden = 0 ORDER BY active_at DESC"
            ) { row in Conversation.ID(stored: try row.blob("id")) }
            var found: [Conversation] = []
            for id in ids.compactMap(\.self) {
                if let conversation = try reader.conversation(id) {
                    found.append(conversation)
                }
            }
            return found
        }
    }

    /// The number of rows of some tables together.
    func rowCount(of tables: String...) async throws -> Int {
        try await read { reader in
            var count = 0
            for table in tables {
                let sql: SQL =
                    switch table {
                    case "conversations": "/* test */ SELECT count(*) AS n FROM conversations"
                    case "messages": "/* test */ SELECT count(*) AS n FROM messages"
                    default: "/* test */ SELECT count(*) AS n FROM outbox"
                    }
                count += try reader.transaction.first(sql) { row in try row.int("n") } ?? 0
            }
            return count
        }
    }
}
