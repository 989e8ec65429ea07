import SystemSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct `A wake signal` {
    @Test func `wakes a waiting task, and remembers one signal for a later wait`() async {
        let signal = WakeSignal()
        signal.signal()
        signal.signal()
        await signal.wait(atMost: .max / 1_000_000_000)
        let waiter = Task { await signal.wait(atMost: .max / 1_000_000_000) }
        await Task.yield()
        signal.signal()
        await waiter.value
    }

    @Test func `a wait ends after its time or when its task is cancelled`() async {
        let signal = WakeSignal()
        await signal.wait(atMost: 1)
        let waiter = Task { await signal.wait(atMost: .max / 1_000_000_000) }
        waiter.cancel()
        await waiter.value
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            await signal.wait(atMost: .max / 1_000_000_000)
        }
        late.cancel()
        await late.value
    }

    @Test func `loses no signal of many`() async {
        let (signal, left) = (WakeSignal(), Locked(1000))
        await withTaskGroup { group in
            for _ in 0..<10 {
                group.addTask {
                    for _ in 0..<100 {
                        left.withLock { left in left -= 1 }
                        signal.signal()
                    }
                }
            }
            while left.withLock({ $0 }) > 0 { await signal.wait(atMost: 10_000) }
        }
        #expect(left.withLock { $0 } == 0)
    }
}
