import HTTP
import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

@Suite struct `A cached message` {
    /// Reads through an interface with a cache and one without, twice each: after every change
    /// they must agree.
    @Test(arguments: ["1.1", "2.0", "3.0"])
    func `equals the message in the database after every change`(version: String) async throws {
        let interfaces = try await CachedAndUncached(version)
        for _ in 0..<70 {
            try await interfaces.changeSomething()
            try await interfaces.compareSome()
            try await interfaces.compareLists()
        }
        let statistics = interfaces.cached.messageCacheStatistics
        #expect((statistics.hits > 100) == interfaces.sample.server.caches)
        #expect((statistics.hits == 0) == !interfaces.sample.server.caches)
        #expect(statistics.misses > 20)
        #expect(statistics.listedHits > 300)
        #expect(statistics.listedMisses > 20)
        #expect(interfaces.uncached.messageCacheStatistics.listedHits == 0)
        #expect(interfaces.uncached.messageCacheStatistics.hits == 0)
        #expect(interfaces.uncached.messageCacheStatistics.bytes == 0)
    }

    @Test func `is current once a change was answered, over sockets (X4)`() async throws {
        let sample = try await SampleApplication.make(version: "3.0", in: .separate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    let socket = SocketClient(port: sample.server.port)
                    let interfaces = try await CachedAndUncached(
                        "3.0", in: sample, by: socket, members: ["w\(writer)", "r"])
                    let message = try await interfaces.send()
                    for number in 0..<40 {
                        let name = "name \(number)"
                        let answer = try await sample.send(
                            "PUT", "/apps/{app}/users/w\(writer)/identity",
                            #"{"display_name":"\#(name)"}"#, by: socket)
                        #expect(answer.status == 204)
                        for path in [
                            "/apps/{app}/messages/\(message)",
                            "/apps/{app}/users/r/messages/\(message)",
                        ] {
                            let read = try await sample.send("GET", path, by: socket)
                            #expect(read.body.contains("\"display_name\":\"\(name)\""))
                        }
                    }
                    let read = try await sample.send(
                        "POST", "/apps/{app}/users/r/messages/\(message)/receipts",
                        #"{"type":"read"}"#, by: socket)
                    #expect(read.status == 204)
                    let known = try await sample.send(
                        "GET", "/apps/{app}/users/r/messages/\(message)", by: socket)
                    #expect(known.body.contains("\"is_unread\":false"))
                }
            }
            try await group.waitForAll()
        }
        let before = sample.server.service.api.messageCacheStatistics
        #expect(before.misses > 0)
    }

    @Test func `is the same after a restart`() async throws {
        let sample = try await SampleApplication.make(version: "3.0", in: .separate())
        let interfaces = try await CachedAndUncached(
            "3.0", in: sample, by: RouterClient(service: sample.server.service))
        let path = "/apps/{app}/messages/\(try await interfaces.send())"
        let before = try await sample.send("GET", path, by: SocketClient(port: sample.server.port))
        let later = try await sample.reopened()
        let socket = SocketClient(port: later.server.port)
        for _ in 0..<3 {
            #expect(try await later.send("GET", path, by: socket).body == before.body)
        }
        #expect(
            later.server.service.api.messageCacheStatistics.hits == (later.server.caches ? 2 : 0))
    }

    @Test func `is checked for access, and revalidated by its ETag (X4)`() async throws {
        let sample = try await SampleApplication.make(version: "3.0", in: .separate())
        let client = RouterClient(service: sample.server.service)
        let interfaces = try await CachedAndUncached("3.0", in: sample, by: client)
        let message = try await interfaces.send()
        for _ in 0..<2 {
            let found = try await sample.send("GET", "/apps/{app}/messages/\(message)", by: client)
            #expect(found.status == 200)
            #expect(found["ETag"] == "\"v1\"")
            let known = try await sample.send(
                "GET", "/apps/{app}/messages/\(message)", fields: [("If-None-Match", "\"v1\"")],
                by: client)
            #expect(known.status == 304)
            #expect(known.body.isEmpty)
            let foreign = try await client.send(
                PlainRequest(
                    method: "GET", target: "/apps/\(sample.application.uuid)/messages/\(message)",
                    fields: [
                        ("Authorization", "Bearer \(sample.variables["other_token"] ?? "")"),
                        ("Accept", "application/vnd.layer+json; version=3.0"),
                    ], body: ""))
            #expect(foreign.status == 403)
            let elsewhere = try await sample.send(
                "GET", "/apps/{app}/conversations/\(message)/messages/\(message)", by: client)
            #expect(elsewhere.status == 404)
        }
        // All lookups count as hits, also those answered with an error.
        #expect(
            sample.server.service.api.messageCacheStatistics.hits == (sample.server.caches ? 5 : 0))
    }
}

@Suite struct `A list with cached messages` {
    /// Changes are made through one store, and read through another one on the same tables.
    @Test(arguments: ["1.1", "3.0"])
    func `equals the database after every change of another process`(version: String) async throws {
        let other = try await TestServer.onPostgres()
        let server = try await TestServer.sharing(other)
        let sample = try await SampleApplication.make(version: version, in: server)
        let interfaces = try await CachedAndUncached(
            version, in: sample, by: RouterClient(service: other.service))
        for _ in 0..<60 {
            try await interfaces.changeSomething()
            try await interfaces.compareLists()
        }
        let statistics = interfaces.cached.messageCacheStatistics
        #expect(statistics.listedHits > 300)
        #expect(statistics.listedMisses > 20)
    }

    @Test func `shares the cache with reads of single messages`() async throws {
        let sample = try await SampleApplication.make(version: "3.0", in: .separate())
        let client = RouterClient(service: sample.server.service)
        let (list, message) = try await sample.listWithMessage(by: client)
        _ = try await sample.send("GET", list, by: client)
        let single = try await sample.send("GET", "/apps/{app}/messages/\(message)", by: client)
        let page = try await sample.send("GET", list, by: client)
        #expect(page.body == "[\(single.body)]")
        let statistics = sample.server.service.api.messageCacheStatistics
        #expect(statistics.hits == (sample.server.caches ? 1 : 0))
        #expect(statistics.listedHits == 1)
        #expect(statistics.listedMisses == 1)
    }

    @Test func `compresses them for a client that accepts it`() async throws {
        let sample = try await SampleApplication.make(version: "3.0", in: .separate())
        let client = RouterClient(service: sample.server.service)
        let (list, _) = try await sample.listWithMessage(by: client)
        for _ in 0..<2 {
            let answer = try await sample.send(
                "GET", list, fields: [("Accept-Encoding", "gzip")], by: client)
            #expect(answer["Content-Encoding"] == "gzip")
            #expect(answer["Vary"] == "Accept-Encoding")
        }
    }

    @Test func `signs the URLs of contents at each read`() async throws {
        let sample = try await SampleApplication.make(version: "3.0", in: .withManualClock())
        let client = RouterClient(service: sample.server.service)
        let (list, _) = try await sample.listWithMessage(by: client, holdingContent: true)
        let first = try await sample.send("GET", list, by: client)
        #expect(first.body.contains("/download/"))
        // The text message is cached; the one with a content is read again.
        sample.server.clock.advance(by: 3_600_000)
        let second = try await sample.send("GET", list, by: client)
        let statistics = sample.server.service.api.messageCacheStatistics
        #expect(statistics.listedHits == 1)
        #expect(statistics.listedMisses == 3)
        #expect(second.body.utf8.count == first.body.utf8.count)
        #expect(second.body != first.body)
    }
}

extension SampleApplication {
    /// Creates a conversation with a message.
    ///
    /// - Parameter holdsContent: Whether another message has a content.
    /// - Returns: The path of the list of its messages, and the id of the first message.
    fileprivate func listWithMessage(
        by client: any TestClient, holdingContent holdsContent: Bool = false
    ) async throws -> (path: String, message: String) {
        let made = try await send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: client)
        let conversation = try #require(made["Location"]?.split(separator: "/").last)
        let path = "/apps/{app}/conversations/\(conversation)/messages"
        let text = String(repeating: "All work and no play. ", count: 80)
        let sent = try await send(
            "POST", path,
            #"{"sender_id":"ana","parts":[{"mime_type":"text/plain","body":"\#(text)"}]}"#,
            by: client)
        if holdsContent {
            let id = try #require(Messaging.Conversation.ID(uuid: conversation))
            let content = Messaging.Content(
                id: server.service.api.newContentID(), conversation: id, mimeType: "image/png",
                size: 5, fileName: nil, sha256: [1], crc32c: 1, md5: nil, sha512: nil,
                completedAt: server.clock.now(), origin: nil)
            try await server.store.finishUpload(content, by: .system, in: application)
            let attached = try await send(
                "POST", path,
                #"""
                {"sender_id":"ana","parts":[{"mime_type":"image/png","content":\#
                {"id":"layer:///content/\#(content.id.uuid)","size":5}}]}
                """#, by: client)
            #expect(attached.status == 201, "\(attached)")
        }
        return (path, String(try #require(sent["Location"]?.split(separator: "/").last)))
    }
}

@Suite struct `A cache with a memory limit` {
    @Test(arguments: [1000, 5000, 60_000])
    func `never exceeds its limit, and returns the last stored value`(budget: Int) {
        var cache = BudgetedCache<Int, Int>(budget: budget)
        var stored: [Int: Int] = [:]
        var weights: [Int: Int] = [:]
        var found = 0
        for number in 0..<20_000 {
            let key = Int.random(in: 0..<300)
            switch Int.random(in: 0..<10) {
            case 0:
                cache.remove(key)
                stored[key] = nil
            case 1...4:
                weights[key] = Int.random(in: 0...budget / 8)
                cache.store(number, under: key, weight: weights[key, default: 0])
                stored[key] = number
            default:
                guard let value = cache.value(of: key) else { continue }
                found += 1
                #expect(value == stored[key])
            }
            #expect(cache.weight <= budget)
        }
        #expect(found > 500)
        let there = (0..<300).filter { key in cache.value(of: key) != nil }
        #expect(there.count == cache.count)
        #expect(there.reduce(0) { sum, key in sum + weights[key, default: 0] } == cache.weight)
    }

    @Test func `evicts unused entries first`() {
        var cache = BudgetedCache<Int, Int>(budget: 1600)
        for key in 0..<16 { cache.store(key, under: key, weight: 100) }
        for key in 0..<8 { #expect(cache.value(of: key) == key) }
        for key in 16..<24 { cache.store(key, under: key, weight: 100) }
        #expect((0..<8).allSatisfy { key in cache.value(of: key) == key })
        #expect((8..<16).allSatisfy { key in cache.value(of: key) == nil })
    }

    @Test func `does not store large entries, and nothing with a limit of zero`() {
        var cache = BudgetedCache<Int, Int>(budget: 1600)
        cache.store(1, under: 1, weight: 101)
        #expect(cache.count == 0)
        // The former value of the key is removed too.
        cache.store(2, under: 2, weight: 100)
        cache.store(3, under: 2, weight: 101)
        #expect(cache.value(of: 2) == nil)
        var none = BudgetedCache<Int, Int>(budget: 0)
        none.store(1, under: 1, weight: 384)
        #expect(none.count == 0)
    }
}
