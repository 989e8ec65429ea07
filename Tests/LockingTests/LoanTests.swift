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

    @Test func `is nobody else's while it is away, so nothing is copied`() async {
        var value = [UInt8](repeating: 0, count: 1 << 20)
        let place = value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        for _ in 0..<200 {
            let loan = queue.lend(value) { value in value[0] &+= 1 }
            value = []
            value = await loan.back()
            value[1] &+= 1
        }
        #expect(value.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } == place)
        #expect(value[0] == 200 && value[1] == 200)
    }
}
