import HTTP
import TestSupport
import Testing

@Suite struct `Any octets as a head` {
    private static let seeds = (AcceptedHeads.all + RefusedHeads.all).map { example in
        octets(example.message)
    }

    @Test(arguments: 0..<400)
    func `mutations never trap, and every split says the same (H3, H191, H215)`(case number: UInt64)
    {
        var any = Generator(number)
        for _ in 0..<25 {
            let message = any.mutation(of: any.one(of: Self.seeds))
            let cuts = any.cuts(of: message.count)
            #expect(Verdict(message, cuts: cuts) == Verdict(message), "\(message)")
        }
    }

    @Test(arguments: 0..<200)
    func `an accepted head written out again reads the same (H5, H215)`(case number: UInt64) {
        var any = Generator(number)
        for _ in 0..<25 {
            let message = any.mutation(of: octets(any.one(of: AcceptedHeads.all).message))
            guard let head = Verdict(message).head, let again = head.octets else { continue }
            #expect(Verdict(again).head == head, "\(message)")
        }
    }

    @Test(arguments: 0..<100)
    func `random octets never trap (H191)`(case number: UInt64) {
        var any = Generator(number)
        let message = (0..<any.number(0...300)).map { _ in UInt8(any.number(0...255)) }
        #expect(Verdict(message, cuts: any.cuts(of: message.count)) == Verdict(message))
    }
}
