import Testing

@testable import Bytes

@Suite struct `CRC-32C` {
    private func checksum(_ bytes: [UInt8]) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes.span)
        return crc.value
    }

    // RFC 3720 §B.4, and the check value of the CRC catalogue.
    @Test(
        arguments: [
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            (Array(0..<32), 0x46DD_794E),
            (Array((0..<32).reversed()), 0x113F_DB5C),
            (Array("123456789".utf8), 0xE306_9283),
            ([], 0),
        ] as [([UInt8], UInt32)])
    func `matches known values`(bytes: [UInt8], expected: UInt32) {
        #expect(checksum(bytes) == expected)
    }

    @Test(arguments: 0...80) func `resuming at any position gives the same checksum`(split: Int) {
        let bytes = (0..<80).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        var crc = CRC32C()
        let (head, tail) = (Array(bytes[..<split]), Array(bytes[split...]))
        crc.update(head.span)
        crc = CRC32C(resuming: crc.value)
        crc.update(tail.span)
        #expect(crc.value == checksum(bytes))
    }

    @Test(arguments: Array(0...80) + [12_287, 12_288, 12_289, 24_576, 50_000])
    func `tables and instruction agree`(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 91 &+ 7) }
        var byTables = CRC32C()
        byTables.update(bytes.span, byInstruction: false)
        #expect(byTables.value == checksum(bytes))
    }

    @Test(arguments: 0...80) func `combining two checksums gives that of both runs`(split: Int) {
        let bytes = (0..<80).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 5) }
        let (head, tail) = (Array(bytes[..<split]), Array(bytes[split...]))
        let joined = CRC32C.combine(
            checksum(head), with: checksum(tail), of: Int64(tail.count))
        #expect(joined == checksum(bytes))
    }
}

@Suite struct `CRC-32` {
    // The check values of the CRC catalogue and of RFC 3720's patterns under this polynomial.
    @Test(
        arguments: [
            (Array("123456789".utf8), 0xCBF4_3926),
            ([UInt8](repeating: 0, count: 32), 0x190A_55AD),
            ([UInt8](repeating: 0xFF, count: 32), 0xFF6C_AB0B),
            (Array(0..<32), 0x9126_7E8A),
            ([], 0),
        ] as [([UInt8], UInt32)])
    func `matches known values, however the bytes are split`(bytes: [UInt8], expected: UInt32) {
        for split in 0...bytes.count {
            let (head, tail) = (Array(bytes[..<split]), Array(bytes[split...]))
            var crc = CRC32()
            crc.update(head.span)
            crc.update(tail.span)
            #expect(crc.value == expected)
        }
    }
}
