import HTTP
import TestSupport
import Testing

@Suite struct `Partial content` {
    private let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0) }

    private func cut(_ ranges: [Range<Int64>], _ number: UInt64 = 1) -> PartialContent {
        var generator = SeededGenerator(number)
        return PartialContent(ranges, of: 1000, "text/plain", using: &generator)
    }

    private func sent(_ partial: PartialContent) -> [UInt8] {
        partial.content { range in
            .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        }.joined
    }

    @Test func `of one range has Content-Range (H110)`() {
        let partial = cut([10..<20])
        #expect(partial.mediaType == "text/plain")
        #expect(partial.contentRange == "bytes 10-19/1000")
        #expect(sent(partial) == Array(bytes[10..<20]))
    }

    @Test func `of several ranges is a multipart whose parts have Content-Range (H110)`() throws {
        let partial = cut([0..<2, 500..<503])
        #expect(partial.contentRange == nil)
        let boundary = String(
            partial.mediaType.dropFirst("multipart/byteranges; boundary=".count))
        func head(_ byteRange: String) -> [UInt8] {
            Array(
                "--\(boundary)\r\nContent-Type: text/plain\r\nContent-Range: \(byteRange)\r\n\r\n"
                    .utf8)
        }
        var expected = head("bytes 0-1/1000") + bytes[0..<2]
        expected += Array("\r\n".utf8) + head("bytes 500-502/1000") + bytes[500..<503]
        expected += Array("\r\n--\(boundary)--\r\n".utf8)
        #expect(sent(partial) == expected)
        #expect(partial.length == Int64(expected.count))
    }

    @Test func `has a random boundary (H110)`() {
        let (one, other) = (cut([0..<1, 500..<501], 1), cut([0..<1, 500..<501], 2))
        #expect(one.mediaType != other.mediaType)
        #expect(one.mediaType.utf8.count == "multipart/byteranges; boundary=".utf8.count + 28)
    }
}

extension Content {
    /// The bytes of contents in memory.
    fileprivate var joined: [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .parts(let parts): parts.flatMap(\.joined)
        default: []
        }
    }
}
