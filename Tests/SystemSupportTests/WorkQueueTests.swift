import SystemSupport
import Testing

@Suite struct `A lent value` {
    private let queue = WorkQueue("parley.tests.loans")
    private let other = WorkQueue("parley.tests.loans.first")

    @Test func `comes back as both queues left it, in their order`() async {
        let loans = (0..<100).map { number in
            queue.handOff([number], first: (other, { value in value.append(1) })) { value in
                value.append(2)
            }
        }
        for (number, loan) in loans.enumerated() {
            #expect(await loan.waitForValue() == [number, 1, 2])
        }
    }

    @Test func `comes back as nobody else's, so it is changed in place`() async {
        var value = [UInt8](repeating: 1, count: 1 << 20)
        let place = value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        for _ in 0..<200 {
            // Whoever lends it still has it for a moment, so the queue only looks at it.
            let loan = queue.handOff(value) { value in _ = value.last }
            value = []
            value = await loan.waitForValue()
            value[0] &+= 1
        }
        #expect(value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } == place)
    }
}

@Suite struct `Work in the background` {
    private let work = BackgroundTask()

    @Test func `begins once, and has ended when its stop returns`() async {
        let (begun, tell) = AsyncStream.makeStream(of: Int.self)
        let ended = Locked(false)
        work.start {
            tell.yield(1)
            await pause(milliseconds: 3_600_000)
            ended.withLock { ended in ended = true }
        }
        work.start { tell.yield(2) }
        for await number in begun {
            #expect(number == 1)
            break
        }
        await work.stop()
        #expect(ended.withLock { ended in ended })
        work.start { tell.yield(3) }
        await work.stop()
        tell.finish()
        for await number in begun { Issue.record("began again: \(number)") }
    }

    @Test func `that never began is at its end`() async {
        await work.stop()
    }
}
