import SystemSupport
import Testing

@Suite struct `A locked value` {
    @Test func `loses no update of concurrent tasks`() async {
        let count = Locked(0)
        await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { for _ in 0..<1000 { count.withLock { count in count += 1 } } }
            }
        }
        #expect(count.withLock { count in count } == 50_000)
    }

    @Test func `is unlocked when the body throws`() throws {
        struct Refused: Error, Equatable {}
        let value = Locked([1])
        #expect(throws: Refused()) {
            try value.withLock { value throws(Refused) in
                value.append(2)
                throw Refused()
            }
        }
        #expect(value.withLock { value in value } == [1, 2])
    }
}
