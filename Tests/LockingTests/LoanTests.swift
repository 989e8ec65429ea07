import Locking
import Testing

@Suite struct `A lent value` {
    private let queue = WorkQueue("parley.tests.loans")
    private let other = WorkQueue("parley.tests.loans.first")

    @Test func `comes back as both queues left it, in their order`() async {
        let loans = (0..<100).map { number in
            queue.lend([number], first: (other, { value in value.append(1) })) { value in
                value.append(2)
            }
        }
        for (number, loan) in loans.enumerated() { #expect(await loan.back() == [number, 1, 2]) }
    }

    @Test func `comes back as nobody else's, so it is changed in place`() async {
        var value = [UInt8](repeating: 1, count: 1 << 20)
        let place = value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        for _ in 0..<200 {
            // Whoever lends it still has it for a moment, so the queue only looks at it.
            let loan = queue.lend(value) { value in _ = value.last }
            value = []
            value = await loan.back()
            value[0] &+= 1
        }
        #expect(value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } == place)
    }
}
