import Locking
import Testing

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
