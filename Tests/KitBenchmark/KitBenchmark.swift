import FoundationEssentials
import Glibc
import ParleyKit

/// Measures the client library against a running server; `Tests/Benchmarks/kit.py` calls it. Prints one line for each figure:
/// a name and a number.
@main struct KitBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let server = URL(string: arguments[2]),
            let count = Int(arguments[5])
        else {
            print("usage: parleykit-bench catch-up|store|send|deliver|idle SERVER APP STORE COUNT")
            exit(64)
        }
        let benchmark = KitBenchmark(
            server: server, application: arguments[3], store: URL(filePath: arguments[4]),
            count: count)
        switch arguments[1] {
        case "catch-up": try await benchmark.catchUp()
        case "store": try await benchmark.readStore()
        case "send": try await benchmark.send()
        case "deliver": try await benchmark.deliver()
        default: try await benchmark.idle()
        }
    }

    let server: URL
    let application: String
    let store: URL
    let count: Int

    private func client(_ user: UserID) async throws -> ParleyClient {
        var configuration = Configuration(
            server: server, application: application,
            store: store.appending(path: user.text), developmentUser: user)
        configuration.history = .all
        return try await ParleyClient(configuration)
    }

    /// Receives everything from nothing.
    private func catchUp() async throws {
        let client = try await client("bo")
        try await client.authenticate()
        let began = ContinuousClock.now
        try await client.catchUp(within: .seconds(3600))
        let spent = ContinuousClock.now - began
        let messages = try await client.count(Query<Message>())
        report("messages", Double(messages))
        report("messages per second", Double(messages) / (spent / .seconds(1)))
        await client.close()
    }

    /// Opens a store and reads the newest messages of the largest conversation.
    private func readStore() async throws {
        var opened: [Double] = []
        for _ in 0..<5 {
            let began = ContinuousClock.now
            let client = try await client("bo")
            opened.append(milliseconds(since: began))
            await client.close()
        }
        report("open p50 ms", percentile(opened, 50))
        let client = try await client("bo")
        guard let conversation = try await client.fetch(Query<Conversation>(limit: 1)).first else {
            return
        }
        var reads: [Double] = []
        for _ in 0..<100 {
            let began = ContinuousClock.now
            let newest = try await client.fetch(
                Query<Message>(
                    where: { $0.conversation == conversation.id },
                    sort: { [$0.position.descending] }, limit: 50))
            reads.append(milliseconds(since: began))
            guard newest.count == 50 else { exit(1) }
        }
        report("newest 50 p50 ms", percentile(reads, 50))
        report("newest 50 p99 ms", percentile(reads, 99))
        await client.close()
    }

    /// Writes messages into the store without a connection.
    private func send() async throws {
        let client = try await client("ana")
        try await client.authenticate()
        let conversation = try await client.newConversation(with: ["cy"]).id
        var times: [Double] = []
        for number in 0..<count {
            let began = ContinuousClock.now
            try await client.send([.text("message \(number)")], to: conversation)
            times.append(milliseconds(since: began))
        }
        report("send p50 ms", percentile(times, 50))
        report("send p99 ms", percentile(times, 99))
        await client.close()
    }

    /// Sends messages one after the other, and waits until a live query of the other user has each.
    private func deliver() async throws {
        let (dora, emil) = (try await client("dora"), try await client("emil"))
        for client in [dora, emil] {
            try await client.authenticate()
            client.connect()
        }
        let conversation = try await dora.newConversation(with: ["emil"]).id
        let first = try await dora.send([.text("first")], to: conversation)
        try await emil.waitFor(.message(first.id), within: .seconds(30))
        var sets = emil.results(
            Query<Message>(where: { $0.conversation == conversation }), window: .last(5)
        ).makeAsyncIterator()
        var times: [Double] = []
        for number in 0..<count {
            let began = ContinuousClock.now
            let id = try await dora.send([.text("message \(number)")], to: conversation).id
            while let set = try await sets.next(), set.elements.last?.id != id {}
            times.append(milliseconds(since: began))
            // Faster than this, sets are held back.
            try await Task.sleep(for: .milliseconds(20))
        }
        report("deliver p50 ms", percentile(times, 50))
        report("deliver p99 ms", percentile(times, 99))
        for client in [dora, emil] { await client.close() }
    }

    /// Stays connected for some seconds while nothing happens.
    private func idle() async throws {
        let client = try await client("fred")
        try await client.authenticate()
        client.connect()
        while client.connection != .live { try await Task.sleep(for: .milliseconds(10)) }
        try await Task.sleep(for: .seconds(1))
        let before = cpuSeconds()
        try await Task.sleep(for: .seconds(count))
        report("idle CPU ms", (cpuSeconds() - before) * 1000)
        await client.close()
    }

    private func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private func milliseconds(since began: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - began) / .milliseconds(1)
    }

    private func percentile(_ values: [Double], _ percent: Int) -> Double {
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, sorted.count * percent / 100)]
    }

    private func report(_ name: String, _ value: Double) {
        print("\(name)\t\((value * 1000).rounded() / 1000)")
    }
}
