import Messaging
import TestSupport
import Testing

@Suite struct `Recording receipts` {
    @Test(arguments: 0..<500) func `R72: a status never falls, and a repeat changes nothing`(
        case number: UInt64
    ) {
        var any = Generator(number)
        let before = Receipts(delivered: any.intervals(), read: any.intervals())
        let more = any.intervals()
        for kind in [Receipts.Kind.delivery, .read] {
            let after = before.recording(kind, of: more)
            #expect(after.recording(kind, of: more) == after)
            #expect(
                (1...50).map(Position.init).allSatisfy { place in
                    before.status(at: place) <= after.status(at: place)
                })
        }
    }

    @Test func `R70: reading is having`() {
        let receipts = Receipts().recording(.read, of: IntervalSet(3...3))
        #expect(receipts.status(at: Position(3)) == .read)
        #expect(receipts.delivered.contains(3))
        #expect(receipts.status(at: Position(2)) == .sent)
    }
}
