import SystemSupport
import Testing

@Suite struct `A value handed off to a queue` {
    private let queue = WorkQueue("parley.tests.handoffs")
    private let other = WorkQueue("parley.tests.handoffs.first")

    @Test func `is mutated by both queues in order`() async {
        let handoffs = (0..<100).map { number in
            queue.handOff([number], first: (other, { value in value.append(1) })) { value in
                value.append(2)
            }
        }
        for (number, handoff) in handoffs.enumerated() {
            #expect(await handoff.waitForValue() == [number, 1, 2])
        }
    }

    @Test func `has one owner when returned, so it is mutated in place`() async {
        var value = [UInt8](repeating: 1, count: 1 << 20)
        let address = value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        for _ in 0..<200 {
            // The sender still holds it for a moment, so the queue only reads it.
            let handoff = queue.handOff(value) { value in _ = value.last }
            value = []
            value = await handoff.waitForValue()
            value[0] &+= 1
        }
        #expect(value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } == address)
    }
}

@Suite struct `Background work` {
    private let work = BackgroundTask()

    @Test func `starts once, and has ended when stop returns`() async {
        let (begun, signal) = AsyncStream.makeStream(of: Int.self)
        let ended = Locked(false)
        work.start {
            signal.yield(1)
            await pause(milliseconds: 3_600_000)
            ended.withLock { ended in ended = true }
        }
        work.start { signal.yield(2) }
        for await number in begun {
            #expect(number == 1)
            break
        }
        await work.stop()
        #expect(ended.withLock { ended in ended })
        work.start { signal.yield(3) }
        await work.stop()
        signal.finish()
        for await number in begun { Issue.record("began again: \(number)") }
    }

    @Test func `that never started can be stopped`() async {
        await work.stop()
    }
}
