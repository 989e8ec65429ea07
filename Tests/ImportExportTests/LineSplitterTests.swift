import Messaging
import Testing

@testable import ImportExport

@Suite struct `Splitting lines` {
    @Test(arguments: 1...9) func `chunks of any length give the same lines`(length: Int) throws {
        #expect(try lines("ab\n\né\nlast", in: length) == ["ab", "", "é", "last"])
        #expect(try lines("ab\n", in: length) == ["ab"])
        #expect(try lines("", in: length) == [])
    }

    @Test func `lines are numbered from 1`() throws {
        var cutter = LineSplitter()
        cutter.append(Array("a\nb".utf8))
        #expect(cutter.number == 0)
        _ = try cutter.next()
        #expect(cutter.number == 1)
        let next = try cutter.next()
        #expect(next == nil)
        let last = cutter.last()
        #expect(last == Array("b".utf8))
        #expect(cutter.number == 2)
    }

    @Test func `X10: a line without end is rejected at its limit`() throws {
        var cutter = LineSplitter()
        let piece = [UInt8](repeating: 0x20, count: 8 << 20)
        cutter.append(Array("a\n".utf8))
        _ = try cutter.next()
        var refused: ImportError?
        for _ in 0..<9 where refused == nil {
            cutter.append(piece)
            do throws(ImportError) { _ = try cutter.next() } catch { refused = error }
        }
        #expect(refused?.line == 2)
        #expect(refused?.lineError.rule == "is longer than 67108864 bytes")
    }

    private func lines(_ text: String, in length: Int) throws -> [String] {
        var cutter = LineSplitter()
        var lines: [[UInt8]] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            cutter.append(rest.prefix(length))
            rest = rest.dropFirst(length)
            while let line = try cutter.next() { lines.append(line) }
        }
        if let line = cutter.last() { lines.append(line) }
        return lines.map { line in String(decoding: line, as: UTF8.self) }
    }
}
