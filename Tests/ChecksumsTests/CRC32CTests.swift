import Testing

@testable import Checksums

@Suite struct `The CRC-32C of bytes` {
    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes.span)
        return crc.value
    }

    // RFC 3720 §B.4, and the check value of the catalogue of CRCs.
    @Test(
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            (Array(0..<32), 0x46DD_794E),
            (Array((0..<32).reversed()), 0x113F_DB5C),
            (Array("123456789".utf8), 0xE306_9283),
            ([], 0),
        ] as [([UInt8], UInt32)])
    func `known values come out`(bytes: [UInt8], expected: UInt32) {
        #expect(checksum(bytes) == expected)
    }

    @Test(arguments: 0...80) func `cutting and resuming changes nothing`(place: Int) {
        let bytes = (0..<80).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        var crc = CRC32C()
        let (head, tail) = (Array(bytes[..<place]), Array(bytes[place...]))
        crc.update(head.span)
        crc = CRC32C(resuming: crc.value)
        crc.update(tail.span)
        #expect(crc.value == checksum(bytes))
    }

    @Test(arguments: Array(0...80) + [12_287, 12_288, 12_289, 24_576, 50_000])
    func `the tables say what the instruction says`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 91 &+ 7) }
        var byTables = CRC32C()
        byTables.update(bytes.span, byInstruction: false)
        #expect(byTables.value == checksum(bytes))
    }

    @Test(arguments: 0...80) func `joining two checksums gives that of both runs`(place: Int) {
        let bytes = (0..<80).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 5) }
        let (head, tail) = (Array(bytes[..<place]), Array(bytes[place...]))
        let joined = CRC32C.joining(
            checksum(head), with: checksum(tail), of: Int64(tail.count))
        #expect(joined == checksum(bytes))
    }
}
