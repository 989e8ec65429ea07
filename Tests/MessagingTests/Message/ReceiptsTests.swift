import Messaging
import TestSupport
import Testing

@Suite struct `Interval sets` {
    @Test(arguments: 0..<500) func `union takes every number of either`(case number: UInt64) {
        var random = SeededGenerator(number)
        let (left, right) = (random.intervals(), random.intervals())
        #expect(left.union(right).numbers == left.numbers.union(right.numbers))
        #expect(left.union(right) == right.union(left))
        #expect(left.union(left) == left)
    }

    @Test(arguments: 0..<500) func `intersection takes the numbers of both`(case number: UInt64) {
        var random = SeededGenerator(number)
        let (left, right) = (random.intervals(), random.intervals())
        #expect(left.intersection(right).numbers == left.numbers.intersection(right.numbers))
    }

    @Test(arguments: 0..<500) func `subtracting leaves the numbers of one`(case number: UInt64) {
        var random = SeededGenerator(number)
        let (left, right) = (random.intervals(), random.intervals())
        #expect(left.subtracting(right).numbers == left.numbers.subtracting(right.numbers))
    }

    @Test(arguments: 0..<500) func `subtracting and adding again restores the numbers`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (left, right) = (random.intervals(), random.intervals())
        #expect(left.subtracting(right).union(left.intersection(right)) == left)
    }

    @Test(arguments: 0..<500) func `the union of three does not depend on grouping`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let (one, two, three) = (random.intervals(), random.intervals(), random.intervals())
        #expect(one.union(two).union(three) == one.union(two.union(three)))
    }

    @Test(arguments: 0..<500) func `the text is read back as the same set`(case number: UInt64) {
        var random = SeededGenerator(number)
        let set = random.intervals()
        #expect(IntervalSet(text: set.text) == set)
    }

    @Test(arguments: 0..<500) func `count and membership agree with the numbers`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let set = random.intervals()
        #expect(set.count == Int64(set.numbers.count))
        #expect(
            (0...50).allSatisfy { position in
                set.contains(position) == set.numbers.contains(position)
            })
    }

    @Test func `the largest number has no successor`() {
        let set = IntervalSet([3...5, 7 ... .max])
        #expect(set.subtracting(set).isEmpty)
        #expect(set.subtracting(IntervalSet(9 ... .max)) == IntervalSet([3...5, 7...8]))
        #expect(set.subtracting(IntervalSet(4...8)) == IntervalSet([3...3, 9 ... .max]))
    }

    @Test func `the text has the form of newsrc`() {
        #expect(IntervalSet([1...500, 502...502]).text == "1-500,502")
        #expect(IntervalSet(text: "")?.isEmpty == true)
        #expect(IntervalSet(text: "7,9223372036854775807")?.intervals == [7...7, .max ... .max])
    }

    @Test(arguments: [
        "0", "2-1", "1-2,3", "1,,2", "x", "1-", "-1", " 1", "01", "3,1", "1-1", ",1", "1,", "1-2-3",
        "1-3,3", "+1", "9223372036854775808", "99999999999999999999",
    ])
    func `other text is rejected`(text: String) {
        #expect(IntervalSet(text: text) == nil)
    }
}

extension IntervalSet {
    fileprivate var numbers: Set<Int64> { Set(intervals.flatMap(Array.init)) }
}

@Suite struct `Recording receipts` {
    @Test(arguments: 0..<500) func `R72: a status never decreases, and a repeat changes nothing`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let before = Receipts(delivered: random.intervals(), read: random.intervals())
        let more = random.intervals()
        for kind in [Receipts.Kind.delivery, .read] {
            let after = before.recording(kind, of: more)
            #expect(after.recording(kind, of: more) == after)
            #expect(
                (1...50).map(Position.init).allSatisfy { position in
                    before.status(at: position) <= after.status(at: position)
                })
        }
    }

    @Test func `R70: read includes delivered`() {
        let receipts = Receipts().recording(.read, of: IntervalSet(3...3))
        #expect(receipts.status(at: Position(3)) == .read)
        #expect(receipts.delivered.contains(3))
        #expect(receipts.status(at: Position(2)) == .sent)
    }
}
