import TestSupport
import Testing

@testable import HTTP

@Suite struct `Frames of a client` {
    @Test(arguments: FrameCase.accepted)
    func `legal frames give their messages, wherever they are cut (H134, H135, H149)`(
        case example: FrameCase
    ) {
        let reading = FrameReading(example.octets, example.limits)
        #expect(reading.events == example.events)
        #expect(reading.fault == nil)
        expectSameReadingForEverySplit(example.octets, example.limits)
    }

    @Test(arguments: FrameCase.refused)
    func `illegal frames end the socket, wherever they are cut (H132–H138, H140, H142, H149)`(
        case example: FrameCase
    ) {
        let reading = FrameReading(example.octets, example.limits)
        #expect(reading.events == example.events)
        #expect(reading.fault?.code == example.code)
        #expect(reading.fault?.rule == example.rule)
        expectSameReadingForEverySplit(example.octets, example.limits)
    }

    @Test(arguments: FrameCase.accepted)
    func `frames that break off say nothing yet (H135)`(case example: FrameCase) {
        let last = FrameReading(Array(example.octets.dropLast()), example.limits)
        #expect(last.events == Array(example.events.dropLast()))
        #expect(last.fault == nil)
    }

    @Test func `a length is refused before anything of it comes (H136, H138)`() {
        let head = Array(ClientFrame(opcode: 2, claimed: 1 << 20 + 1).octets.prefix(10))
        #expect(FrameReading(head).fault?.code == .tooBig)
        #expect(FrameReading(Array(head.dropLast())).fault == nil)
    }

    @Test(
        arguments: [
            999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535, 0,
        ] as [UInt16])
    func `close codes that may not be sent are refused (H140)`(code: UInt16) {
        #expect(FrameReading(ClientFrame.close(code).octets).fault?.code == .protocolError)
    }

    @Test(
        arguments: [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999,
            4000,
            4999,
        ] as [UInt16])
    func `close codes that may be sent are taken (H140)`(code: UInt16) {
        #expect(FrameReading(ClientFrame.close(code).octets).events == [.close(CloseCode(code))])
    }

    @Test(arguments: 0..<400)
    func `what is sent comes back whole, however it is fragmented and cut (H3, H135)`(
        case number: UInt64
    ) {
        var any = Generator(number)
        let message = (0..<any.number(0...300)).map { _ in UInt8(any.number(0...255)) }
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for cut in any.cuts(of: message.count) {
            pieces.append(message[start..<cut])
            start = cut
        }
        let frames = pieces.enumerated().map { index, piece in
            ClientFrame(
                opcode: index == 0 ? 2 : 0, payload: Array(piece),
                isFinal: index == pieces.count - 1,
                key: (0..<4).map { _ in UInt8(any.number(0...255)) })
        }
        let reading = FrameReading(frames.octets, cuts: any.cuts(of: frames.octets.count))
        #expect(reading.events == [.message(.binary(message))])
    }

    @Test(arguments: 0..<400)
    func `mutations never trap, and every split says the same (H3, H215)`(case number: UInt64) {
        var any = Generator(number)
        for _ in 0..<25 {
            let seed = any.one(of: FrameCase.accepted + FrameCase.refused)
            let octets = any.mutation(of: any.mutation(of: seed.octets))
            #expect(
                FrameReading(octets, cuts: any.cuts(of: octets.count), seed.limits)
                    == FrameReading(octets, seed.limits), "\(octets)")
        }
    }
}
