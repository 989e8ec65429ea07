import TestSupport
import Testing

@testable import HTTP

@Suite struct `Text of a WebSocket` {
    // The classes of RFC 3629 and of the usual stress test, each with the octet that is wrong.
    @Test(
        arguments: [
            ([0x80], 0), ([0xBF], 0), ([0xC0, 0xAF], 0), ([0xC1, 0x81], 0), ([0xC2, 0x41], 1),
            ([0xE0, 0x80, 0xAF], 1), ([0xE0, 0x9F, 0xBF], 1), ([0xED, 0xA0, 0x80], 1),
            ([0xED, 0xBF, 0xBF], 1), ([0xE2, 0x82, 0x41], 2), ([0xF0, 0x80, 0x80, 0x80], 1),
            ([0xF0, 0x8F, 0xBF, 0xBF], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF5, 0x80], 0),
            ([0xF8, 0x88], 0), ([0xFC], 0), ([0xFE], 0), ([0xFF], 0),
            ([0xF0, 0x9F, 0x98, 0xC0], 3), ([0x61, 0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xED, 0xA0], 7),
        ] as [([UInt8], Int)])
    func `fails at the first octet that cannot be UTF-8 (H137)`(octets: [UInt8], wrong: Int) {
        let octets = Array("plain ASCII before it".utf8) + octets
        let wrong = wrong + 21
        #expect(accepts(octets[..<wrong]))
        #expect(!accepts(octets[...wrong]))
    }

    @Test func `agrees with the standard library on all pairs and on mutations (H137)`() {
        var any = Generator(1)
        var differing: [[UInt8]] = []
        let seed = Array(
            "a\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\u{D7FF}\u{E000}".utf8)
        for number in 0..<65_536 + 20_000 {
            let octets =
                number < 65_536
                ? [UInt8(number >> 8), UInt8(number & 0xFF)] : any.mutation(of: seed)
            if isText(octets) != (String(validating: octets, as: UTF8.self) != nil) {
                differing.append(octets)
            }
        }
        #expect(differing.isEmpty)
    }

    private func accepts(_ octets: ArraySlice<UInt8>) -> Bool {
        var check = UTF8Check()
        return check.take(octets.span)
    }

    private func isText(_ octets: [UInt8]) -> Bool {
        var check = UTF8Check()
        return check.take(octets.span) && check.isComplete
    }
}
