import Bytes
import Testing

@Suite struct `Appending to a buffer` {
    @Test(arguments: [0, 7, 10, 99, 100, 1 << 32, 12_345_678_901_234_567, UInt64.max])
    func `a number is written as its digits`(number: UInt64) {
        #expect(text(20) { span in span.append(decimal: number) } == String(number))
    }

    @Test(arguments: [
        Int64.min, -10, -1, 0, 1, 9_999_999_999_999_999, 10_000_000_000_000_000, .max,
    ])
    func `a number keeps its sign`(number: Int64) {
        #expect(text(20) { span in span.append(decimal: number) } == String(number))
    }

    @Test func `two digits are written below ten as well`() {
        let written = text(4) { span in
            span.append(twoDigits: 7)
            span.append(twoDigits: 99)
        }
        #expect(written == "0799")
    }

    @Test func `appends after existing bytes`() {
        var bytes = Array("a".utf8)
        let piece = Array("cd".utf8)
        bytes.append(atMost: 16) { span in
            span.append("b")
            span.append(piece.span)
            span.append("" as StaticString)
        }
        #expect(bytes == Array("abcd".utf8))
    }

    @Test func `capacity doubles, so that small appends stay cheap`() {
        var bytes: [UInt8] = []
        var moves = 0
        for _ in 0..<10_000 {
            let before = bytes.capacity
            bytes.append(atMost: 1) { span in span.append(0x61) }
            if bytes.capacity != before { moves += 1 }
        }
        #expect(bytes.count == 10_000)
        #expect(moves < 20)
    }

    private func text(_ size: Int, _ write: (inout OutputSpan<UInt8>) -> Void) -> String {
        var bytes: [UInt8] = []
        bytes.append(atMost: size, write)
        return String(decoding: bytes, as: UTF8.self)
    }
}
