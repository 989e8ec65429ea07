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
            print(
                """
                usage: parleykit-bench catch-up|store|send|deliver|live|unshown|transfer|idle SERVER APP STORE COUNT
                """
            )
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
        case "live": try await benchmark.followChanges(isShown: true)
        case "unshown": try await benchmark.followChanges(isShown: false)
        case "transfer": try await benchmark.transfer()
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

    private func connected(_ user: UserID) async throws -> ParleyClient {
        let client = try await client(user)
        try await client.authenticate()
        client.connect()
        return client
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
        let (dora, emil) = (try await connected("dora"), try await connected("emil"))
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

    /// Shows the newest messages of the largest conversation for some seconds, while others send into it, and measures how
    /// long a task waits for the main actor. Prints `ready` when it begins.
    ///
    /// - Parameter isShown: Without a query, the same waits show what the load of the machine causes.
    @MainActor private func followChanges(isShown: Bool) async throws {
        let client = try await client("bo")
        client.connect()
        while client.connection != .live { try await Task.sleep(for: .milliseconds(10)) }
        guard let conversation = try await client.fetch(Query<Conversation>(limit: 1)).first else {
            return
        }
        let messages = Query<Message>(where: { $0.conversation == conversation.id })
        let shown = isShown ? LiveResults(messages, in: client, window: .last(50)) : nil
        while shown?.results.elements.isEmpty == true {
            try await Task.sleep(for: .milliseconds(10))
        }
        let first = shown?.results.total ?? 0
        print("ready")
        fflush(nil)
        let end = ContinuousClock.now + .seconds(count)
        let waiting = Task.detached { () -> [Double] in
            var times: [Double] = []
            while ContinuousClock.now < end {
                let began = ContinuousClock.now
                await MainActor.run {}
                times.append((ContinuousClock.now - began) / .milliseconds(1))
                try? await Task.sleep(for: .milliseconds(1))
            }
            return times
        }
        let times = await waiting.value
        let state = isShown ? "" : ", nothing shown"
        if let shown {
            report("changes per second", Double(shown.results.total - first) / Double(count))
        }
        report("wait for the main actor\(state) p99 ms", percentile(times, 99))
        report("wait for the main actor\(state), longest ms", times.max() ?? 0)
        await client.close()
    }

    /// Sends a file of some megabytes from one user to another one.
    private func transfer() async throws {
        let (gus, hana) = (try await connected("gus"), try await connected("hana"))
        let file = store.appending(path: "file")
        let piece = (0..<1_000_000).map { _ in UInt8.random(in: 0...255) }
        guard let handle = fopen(file.path, "w") else { exit(1) }
        for _ in 0..<count where fwrite(piece, 1, piece.count, handle) != piece.count { exit(1) }
        fclose(handle)
        let conversation = try await gus.newConversation(with: ["hana"]).id
        // The peak of the memory is counted from here.
        try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        let before = try peakOfMemory()
        let began = ContinuousClock.now
        let message = try await gus.send(
            [.file(file, mimeType: "application/octet-stream")], to: conversation)
        try await gus.waitUntilSent(message.id)
        report("upload MB/s", Double(count) * 1000 / milliseconds(since: began))
        try await hana.waitFor(.message(message.id), within: .seconds(60))
        let received = try await hana.fetch(
            Query<Message>(where: { $0.conversation == conversation }))
        guard let part = received.first?.parts.first else { exit(1) }
        let second = ContinuousClock.now
        try await hana.download(part.id).wait()
        report("download MB/s", Double(count) * 1000 / milliseconds(since: second))
        report("memory of both MiB", Double(try peakOfMemory() - before) / 1024)
        for client in [gus, hana] { await client.close() }
        try FileManager.default.removeItem(at: store)
    }

    /// The peak of the resident memory of this process in KiB.
    private func peakOfMemory() throws -> Int {
        let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0
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
