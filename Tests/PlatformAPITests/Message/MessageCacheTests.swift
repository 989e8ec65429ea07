import HTTP
import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

@Suite struct `A remembered message` {
    /// Each viewer asks both an interface that remembers and one that does not, twice each:
    /// whatever was changed in between, they say the same.
    @Test(arguments: ["1.1", "2.0", "3.0"])
    func `is answered as if read from the database after every change`(version: String) async throws
    {
        let play = try await Play(version)
        for _ in 0..<70 {
            try await play.changeSomething()
            try await play.compareSome()
        }
        let statistics = play.remembering.messageCacheStatistics
        #expect((statistics.hits > 100) == play.scene.world.remembers)
        #expect((statistics.hits == 0) == !play.scene.world.remembers)
        #expect(statistics.misses > 20)
        #expect(play.forgetful.messageCacheStatistics.hits == 0)
        #expect(play.forgetful.messageCacheStatistics.bytes == 0)
    }

    @Test func `is what its change has answered, over sockets (X4)`() async throws {
        let scene = try await SampleApplication.make(version: "3.0", in: .separate())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    let socket = SocketClient(port: scene.world.port)
                    let play = try await Play(
                        "3.0", in: scene, by: socket, members: ["w\(writer)", "r"])
                    let message = try await play.send()
                    for number in 0..<40 {
                        let name = "name \(number)"
                        let answer = try await scene.ask(
                            "PUT", "/apps/{app}/users/w\(writer)/identity",
                            #"{"display_name":"\#(name)"}"#, by: socket)
                        #expect(answer.status == 204)
                        for path in [
                            "/apps/{app}/messages/\(message)",
                            "/apps/{app}/users/r/messages/\(message)",
                        ] {
                            let read = try await scene.ask("GET", path, by: socket)
                            #expect(read.body.contains("\"display_name\":\"\(name)\""))
                        }
                    }
                    let read = try await scene.ask(
                        "POST", "/apps/{app}/users/r/messages/\(message)/receipts",
                        #"{"type":"read"}"#, by: socket)
                    #expect(read.status == 204)
                    let known = try await scene.ask(
                        "GET", "/apps/{app}/users/r/messages/\(message)", by: socket)
                    #expect(known.body.contains("\"is_unread\":false"))
                }
            }
            try await group.waitForAll()
        }
        let before = scene.world.service.api.messageCacheStatistics
        #expect(before.misses > 0)
    }

    @Test func `is the same after a restart`() async throws {
        let scene = try await SampleApplication.make(version: "3.0", in: .separate())
        let play = try await Play("3.0", in: scene, by: RouterClient(service: scene.world.service))
        let path = "/apps/{app}/messages/\(try await play.send())"
        let before = try await scene.ask("GET", path, by: SocketClient(port: scene.world.port))
        let later = try await scene.reopened()
        let socket = SocketClient(port: later.world.port)
        for _ in 0..<3 { #expect(try await later.ask("GET", path, by: socket).body == before.body) }
        #expect(
            later.world.service.api.messageCacheStatistics.hits == (later.world.remembers ? 2 : 0))
    }

    @Test func `is refused as it would be, and known by its tag (X4)`() async throws {
        let scene = try await SampleApplication.make(version: "3.0", in: .separate())
        let client = RouterClient(service: scene.world.service)
        let play = try await Play("3.0", in: scene, by: client)
        let message = try await play.send()
        for _ in 0..<2 {
            let found = try await scene.ask("GET", "/apps/{app}/messages/\(message)", by: client)
            #expect(found.status == 200)
            #expect(found["ETag"] == "\"v1\"")
            let known = try await scene.ask(
                "GET", "/apps/{app}/messages/\(message)", fields: [("If-None-Match", "\"v1\"")],
                by: client)
            #expect(known.status == 304)
            #expect(known.body.isEmpty)
            let foreign = try await client.ask(
                PlainRequest(
                    method: "GET", target: "/apps/\(scene.application.uuid)/messages/\(message)",
                    fields: [
                        ("Authorization", "Bearer \(scene.variables["other_token"] ?? "")"),
                        ("Accept", "application/vnd.layer+json; version=3.0"),
                    ], body: ""))
            #expect(foreign.status == 403)
            let elsewhere = try await scene.ask(
                "GET", "/apps/{app}/conversations/\(message)/messages/\(message)", by: client)
            #expect(elsewhere.status == 404)
        }
        // All lookups count as hits, also those that are answered with an error.
        #expect(
            scene.world.service.api.messageCacheStatistics.hits == (scene.world.remembers ? 5 : 0))
    }
}

@Suite struct `A cache with a budget` {
    @Test(arguments: [1000, 5000, 60_000])
    func `never weighs more than that, and returns the last stored value`(budget: Int) {
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

    @Test func `keeps nothing that drives out many, and without a budget nothing at all`() {
        var cache = BudgetedCache<Int, Int>(budget: 1600)
        cache.store(1, under: 1, weight: 101)
        #expect(cache.count == 0)
        // What was known under the key is not true any more either.
        cache.store(2, under: 2, weight: 100)
        cache.store(3, under: 2, weight: 101)
        #expect(cache.value(of: 2) == nil)
        var none = BudgetedCache<Int, Int>(budget: 0)
        none.store(1, under: 1, weight: 384)
        #expect(none.count == 0)
    }
}
