import SystemSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A bell` {
    @Test func `wakes who waits, and keeps one ring for who comes later`() async {
        let bell = WakeSignal()
        bell.signal()
        bell.signal()
        await bell.wait(atMost: .max / 1_000_000_000)
        let waiter = Task { await bell.wait(atMost: .max / 1_000_000_000) }
        await Task.yield()
        bell.signal()
        await waiter.value
    }

    @Test func `lets go of who has waited long enough, or is cancelled`() async {
        let bell = WakeSignal()
        await bell.wait(atMost: 1)
        let waiter = Task { await bell.wait(atMost: .max / 1_000_000_000) }
        waiter.cancel()
        await waiter.value
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            await bell.wait(atMost: .max / 1_000_000_000)
        }
        late.cancel()
        await late.value
    }

    @Test func `misses no ring of many`() async {
        let (bell, left) = (WakeSignal(), Locked(1000))
        await withTaskGroup { group in
            for _ in 0..<10 {
                group.addTask {
                    for _ in 0..<100 {
                        left.withLock { left in left -= 1 }
                        bell.signal()
                    }
                }
            }
            while left.withLock({ $0 }) > 0 { await bell.wait(atMost: 10_000) }
        }
        #expect(left.withLock { $0 } == 0)
    }
}
