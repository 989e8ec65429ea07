import TestSupport
import Testing

@testable import HTTP
@testable import WebSockets

@Suite struct `Frames of a client` {
    @Test(arguments: FrameCase.accepted)
    func `valid frames give their messages, however they are split (H134, H135, H149)`(
        case example: FrameCase
    ) {
        let reading = DecodedFrames(example.bytes, example.limits)
        #expect(reading.events == example.events)
        #expect(reading.fault == nil)
        expectSameFramesForEverySplit(example.bytes, example.limits)
    }

    @Test(arguments: FrameCase.refused)
    func `invalid frames end the socket, however they are split (H132–H138, H140, H142, H149)`(
        case example: FrameCase
    ) {
        let reading = DecodedFrames(example.bytes, example.limits)
        #expect(reading.events == example.events)
        #expect(reading.fault?.code == example.code)
        #expect(reading.fault?.rule == example.rule)
        expectSameFramesForEverySplit(example.bytes, example.limits)
    }

    @Test(arguments: FrameCase.accepted)
    func `incomplete frames give no event (H135)`(case example: FrameCase) {
        let last = DecodedFrames(Array(example.bytes.dropLast()), example.limits)
        #expect(last.events == Array(example.events.dropLast()))
        #expect(last.fault == nil)
    }

    @Test func `a length is refused before its payload arrives (H136, H138)`() {
        let head = Array(ClientFrame(opcode: 2, claimed: 1 << 20 + 1).bytes.prefix(10))
        #expect(DecodedFrames(head).fault?.code == .tooBig)
        #expect(DecodedFrames(Array(head.dropLast())).fault == nil)
    }

    @Test(
        arguments: [
            999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535, 0,
        ] as [UInt16])
    func `close codes that may not be sent are refused (H140)`(code: UInt16) {
        #expect(DecodedFrames(ClientFrame.close(code).bytes).fault?.code == .protocolError)
    }

    @Test(
        arguments: [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999,
            4000,
            4999,
        ] as [UInt16])
    func `close codes that may be sent are accepted (H140)`(code: UInt16) {
        #expect(DecodedFrames(ClientFrame.close(code).bytes).events == [.close(CloseCode(code))])
    }

    @Test(arguments: 0..<400)
    func `messages are decoded unchanged, however they are fragmented and split (H3, H135)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let message = (0..<random.number(0...300)).map { _ in UInt8(random.number(0...255)) }
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        for cut in random.cuts(of: message.count) {
            pieces.append(message[start..<cut])
            start = cut
        }
        let frames = pieces.enumerated().map { index, piece in
            ClientFrame(
                opcode: index == 0 ? 2 : 0, payload: Array(piece),
                isFinal: index == pieces.count - 1,
                key: (0..<4).map { _ in UInt8(random.number(0...255)) })
        }
        let reading = DecodedFrames(frames.bytes, cuts: random.cuts(of: frames.bytes.count))
        #expect(reading.events == [.message(.binary(message))])
    }

    @Test(arguments: 0..<400)
    func `mutations never trap, and every split gives the same result (H3, H215)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        for _ in 0..<25 {
            let seed = random.one(of: FrameCase.accepted + FrameCase.refused)
            let bytes = random.mutation(of: random.mutation(of: seed.bytes))
            #expect(
                DecodedFrames(bytes, cuts: random.cuts(of: bytes.count), seed.limits)
                    == DecodedFrames(bytes, seed.limits), "\(bytes)")
        }
    }
}

@Suite struct `Text of a WebSocket` {
    // The classes of RFC 3629 and of a common stress test, each with the invalid byte.
    @Test(
        arguments: [
            ([0x80], 0), ([0xBF], 0), ([0xC0, 0xAF], 0), ([0xC1, 0x81], 0), ([0xC2, 0x41], 1),
            ([0xE0, 0x80, 0xAF], 1), ([0xE0, 0x9F, 0xBF], 1), ([0xED, 0xA0, 0x80], 1),
            ([0xED, 0xBF, 0xBF], 1), ([0xE2, 0x82, 0x41], 2), ([0xF0, 0x80, 0x80, 0x80], 1),
            ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF5, 0x80], 0),
            ([0xF8, 0x88], 0), ([0xFC], 0), ([0xFE], 0), ([0xFF], 0),
            ([0xF0, 0x9F, 0x98, 0xC0], 3), ([0x61, 0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xED, 0xA0], 7),
        ] as [([UInt8], Int)])
    func `fails at the first byte that cannot be UTF-8 (H137)`(bytes: [UInt8], wrong: Int) {
        let bytes = Array("plain ASCII before it".utf8) + bytes
        let wrong = wrong + 21
        #expect(accepts(bytes[..<wrong]))
        #expect(!accepts(bytes[...wrong]))
    }

    @Test func `agrees with the standard library on all pairs and on mutations (H137)`() {
        var random = SeededGenerator(1)
        var differing: [[UInt8]] = []
        let seed = Array(
            "a\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\u{D7FF}\u{E000}".utf8)
        for number in 0..<65_536 + 20_000 {
            let bytes =
                number < 65_536
                ? [UInt8(number >> 8), UInt8(number & 0xFF)] : random.mutation(of: seed)
            if isText(bytes) != (String(validating: bytes, as: UTF8.self) != nil) {
                differing.append(bytes)
            }
        }
        #expect(differing.isEmpty)
    }

    private func accepts(_ bytes: ArraySlice<UInt8>) -> Bool {
        var check = UTF8Validator()
        return check.take(bytes.span)
    }

    private func isText(_ bytes: [UInt8]) -> Bool {
        var check = UTF8Validator()
        return check.take(bytes.span) && check.isComplete
    }
}

/// Everything that a decoder returned for some bytes.
struct DecodedFrames: Equatable {
    var events: [FrameDecoder.Event] = []
    var fault: WebSocketFault?

    init(_ bytes: [UInt8], cuts: [Int]? = nil, _ limits: FrameLimits = FrameLimits()) {
        var decoder = FrameDecoder(limits)
        var start = 0
        for cut in cuts ?? [bytes.count] {
            let piece = Array(bytes[start..<cut])
            start = cut
            var index = 0
            do throws(WebSocketFault) {
                while let event = try decoder.next(piece.span, at: &index) { events.append(event) }
            } catch {
                fault = error
                return
            }
        }
    }
}

/// Expects the same events however the input is split, and byte by byte.
func expectSameFramesForEverySplit(
    _ bytes: [UInt8], _ limits: FrameLimits = FrameLimits(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let whole = DecodedFrames(bytes, limits)
    let differing = (0...bytes.count).filter { cut in
        DecodedFrames(bytes, cuts: [cut, bytes.count], limits) != whole
    }
    #expect(differing.isEmpty, sourceLocation: sourceLocation)
    #expect(
        DecodedFrames(bytes, cuts: Array(0...bytes.count), limits) == whole,
        sourceLocation: sourceLocation)
}
