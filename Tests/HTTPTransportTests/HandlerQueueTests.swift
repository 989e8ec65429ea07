import HTTP
import Testing

@testable import HTTPTransport

@Suite struct `The queue of handlers` {
    @Test func `gives slots, then entries, then nothing (H187)`() {
        let queue = HandlerQueue(limit: 2, capacity: 2)
        #expect(queue.takeFreeSlot() && queue.takeFreeSlot() && !queue.takeFreeSlot())
        for _ in 0..<2 {
            guard case .wait = queue.requestSlot({}) else {
                Issue.record("there is an entry")
                return
            }
        }
        guard case .refuse = queue.requestSlot({}) else {
            Issue.record("there is no entry")
            return
        }
        #expect(queue.counts.running == 2)
        #expect(queue.counts.waiting == 2)
    }

    @Test func `calls the request that has waited longest, and no cancelled one (H187)`() {
        let queue = HandlerQueue(limit: 1, capacity: 200)
        let called = Called()
        #expect(queue.takeFreeSlot())
        var entries: [HandlerQueue.Entry] = []
        for number in 0..<150 {
            guard case .wait(let entry) = queue.requestSlot({ called.add(number) }) else {
                continue
            }
            entries.append(entry)
        }
        for (number, entry) in entries.enumerated() where number % 3 > 0 {
            #expect(queue.cancelWait(entry))
            #expect(!queue.cancelWait(entry))
        }
        for _ in 0..<50 { queue.releaseSlot() }
        #expect(called.numbers == Array(stride(from: 0, to: 150, by: 3)))
        #expect(!queue.cancelWait(entries[0]))
        #expect(queue.counts.running == 1)
        queue.releaseSlot()
        #expect(queue.counts.running == 0)
        #expect(queue.counts.waiting == 0)
    }

    @Test func `starts waiting requests when the limit rises (H187, H196)`() {
        let queue = HandlerQueue(limit: 1, capacity: 9)
        let called = Called()
        #expect(queue.takeFreeSlot())
        for number in 0..<3 { _ = queue.requestSlot { called.add(number) } }
        queue.set(limit: 3, capacity: 1)
        #expect(called.numbers == [0, 1])
        #expect(queue.counts.running == 3)
        #expect(queue.counts.waiting == 1)
        guard case .refuse = queue.requestSlot({}) else {
            Issue.record("a full queue must refuse")
            return
        }
    }
}

/// The called requests, in order.
private final class Called: @unchecked Sendable {
    // Sendable because these tests have one thread.
    private(set) var numbers: [Int] = []
    func add(_ number: Int) { numbers.append(number) }
}

@Suite struct `Connections of one client` {
    @Test func `are counted up to a limit, and forgotten when they end (H182)`() {
        let counts = AddressCounts()
        let client = AddressCounts.Client(.ipv4(0x0A00_0001, port: 1))
        guard let client else {
            Issue.record("an address is a client")
            return
        }
        #expect(counts.add(client, limit: 2) && counts.add(client, limit: 2))
        #expect(!counts.add(client, limit: 2))
        counts.remove(client)
        #expect(counts.add(client, limit: 2))
        #expect(counts.clientCount == 1)
        for _ in 0..<2 { counts.remove(client) }
        #expect(counts.clientCount == 0)
    }

    @Test func `are those of an IPv4 address or of an IPv6 network (H182)`() {
        let network = { (high: UInt64, low: UInt64) in
            AddressCounts.Client(.ipv6(.init(high: high, low: low), port: 1))
        }
        #expect(network(1, 2) == network(1, 3))
        #expect(network(1, 2) != network(2, 2))
        #expect(network(0x0A00_0001, 0) != AddressCounts.Client(.ipv4(0x0A00_0001, port: 1)))
        #expect(
            AddressCounts.Client(.ipv4(1, port: 1)) == AddressCounts.Client(.ipv4(1, port: 2)))
        #expect(AddressCounts.Client(.local) == nil)
        #expect(AddressCounts.Client(.unknown) == nil)
    }
}
