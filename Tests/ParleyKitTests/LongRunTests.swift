import FoundationEssentials
import Glibc
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

/// A client that runs for days, in fast time.
@Suite(.timeLimit(.minutes(60))) struct LongRunTests {
    /// Each cycle stands for 30 seconds: the clock of the device goes on by so much, and the connection breaks.
    private static let cycles = TestRounds.number(100, of: 5760)
    private static let length: Int64 = 30_000

    @Test(arguments: [false, true])
    func `two days cost no memory, descriptors or threads, also behind a proxy (K11, K71)`(
        holdsStreams: Bool
    ) async throws {
        let server = try KitServer()
        let proxy = try CuttingProxy(to: server.port)
        proxy.holdEventStreams(holdsStreams)
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let first = try await ana.send([.text("first")], to: conversation).id
        try await ana.waitUntilSent(first)
        await ana.close()
        bo.connect()
        try await bo.waitFor(.message(first), within: .seconds(120))
        let configuration = server.configuration("ana", through: proxy.port)
        // The server is killed and started, and the other user writes, while the client runs in a process of its own.
        let others = Task {
            var number = 0
            while !Task.isCancelled {
                try await Task.sleep(for: .milliseconds(200))
                number += 1
                try await bo.send([.text("bo \(number)")], to: conversation)
                guard number % 20 == 0 else { continue }
                server.kill()
                server.start()
                bo.kick()
            }
        }
        defer { others.cancel() }
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            [
                server = configuration.server.absoluteString as String,
                store = configuration.store.path as String,
                id = conversation.description as String, holdsStreams = holdsStreams as Bool
            ] in
            var configuration = Configuration(
                server: try #require(URL(string: server)), application: KitServer.application,
                store: URL(filePath: store), developmentUser: "ana")
            configuration.history = .all
            if holdsStreams { configuration.streamPatience = .milliseconds(500) }
            let client = try await openClient(configuration)
            try await LongRunTests.run(client, in: try #require(Conversation.ID(id)))
        }
        for output in [result?.standardOutputContent, result?.standardErrorContent] {
            print(String(decoding: output ?? [], as: UTF8.self))
        }
        others.cancel()
        if case .failure(let error) = await others.result, !(error is CancellationError),
            (error as? ParleyError)?.code != .cancelled
        {
            Issue.record(error)
        }
        await bo.close()
    }

    /// Runs the cycles, and fails if the process has more of anything at the end than after a fifth of them.
    private static func run(_ client: ParleyClient, in id: Conversation.ID) async throws {
        var before: Resources?
        for number in 0..<cycles {
            try await Clock.$error.withValue(Int64(number) * length) {
                try await cycle(number, client, id)
            }
            if number == cycles / 5 { before = try Resources() }
        }
        let (old, new) = (try #require(before), try Resources())
        print("\(cycles) cycles: \(old) after a fifth, \(new) at the end")
        #expect(new.descriptors <= old.descriptors + 8)
        #expect(new.threads <= old.threads + 4)
        // What a cycle may leave is less than a task, a timer or a connection takes.
        #expect(new.kibibytes <= old.kibibytes + 8192 + cycles * 4 / 5 / 4)
        await client.close()
    }

    private static func cycle(
        _ number: Int, _ client: ParleyClient, _ id: Conversation.ID
    ) async throws {
        client.connect()
        try await eventually("the client is live") {
            client.kick()
            return client.connection == .live
        }
        client.sendTyping(.started, in: id)
        let parts: [PartDraft] =
            number % 10 == 0
            ? [.data(Data(repeating: UInt8(number % 250), count: 5000), mimeType: "a/b")]
            : [.text("\(number)")]
        let message = try await client.send(parts, to: id)
        try await client.setMetadata(.text("\(number)"), at: "number", of: id)
        var sets = client.results(
            Query<Message>(where: { $0.conversation == id }), window: .last(10)
        ).makeAsyncIterator()
        let unread = try await sets.next()?.elements.filter(\.isUnread).map(\.id) ?? []
        try await client.markAsRead(Set(unread))
        try await eventually("the message is sent") {
            client.kick()
            return try await client.message(message.id)?.isSent == true
        }
        if number % 10 == 0 { try await client.purge(message.parts[0].id) }
        await client.disconnect()
    }

    /// What a process uses.
    private struct Resources: CustomStringConvertible {
        let descriptors: Int
        let threads: Int
        let kibibytes: Int

        init() throws {
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            let status = try String(
                contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
            func number(_ name: String) throws -> Int {
                let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
                let words = try #require(line).split { $0 == " " || $0 == "\t" }
                return try #require(Int(words[1]))
            }
            threads = try number("Threads")
            kibibytes = try number("VmRSS")
        }

        var description: String {
            "\(descriptors) descriptors, \(threads) threads, \(kibibytes) KiB"
        }
    }
}
