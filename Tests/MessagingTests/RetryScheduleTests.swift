import Messaging
import Testing

@Suite struct `The schedule of retries` {
    @Test func `takes about 75 hours (X6)`() {
        #expect(RetrySchedule.usual.span == 272_105_000)
    }

    @Test(arguments: 1...9) func `keeps its waits within a fifth (X6)`(attempts: Int64) throws {
        let schedule = RetrySchedule.usual
        let now = Timestamp(milliseconds: 1_000_000)
        let wait = schedule.waits[Int(attempts) - 1]
        for (chance, bound) in [(0.0, wait * 8 / 10), (0.5, wait), (1.0, wait * 12 / 10)] {
            let next = try #require(
                schedule.next(after: attempts, asked: now, now: now, chance: chance))
            #expect(abs(next.milliseconds - now.milliseconds - bound) <= 1)
        }
    }

    @Test func `ends after its last wait, and with what has waited longer than all of it`() {
        let schedule = RetrySchedule(waits: [40_000, 50_000])
        let start = Timestamp(milliseconds: 5000)
        let next = { (attempts: Int64, elapsed: Int64) in
            schedule.next(
                after: attempts, asked: start, now: Timestamp(milliseconds: 5000 + elapsed),
                chance: 0.5)
        }
        #expect(next(2, 0) != nil)
        #expect(next(3, 0) == nil)
        #expect(next(1, 90_000) != nil)
        #expect(next(1, 90_001) == nil)
        // Whose turn has come is tried to the end.
        #expect(next(2, 1_000_000) != nil)
        #expect(RetrySchedule(waits: []).next(after: 1, asked: start, now: start, chance: 0) == nil)
    }
}
