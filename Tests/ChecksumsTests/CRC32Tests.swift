import Testing

@testable import Checksums

@Suite struct `The CRC-32 of bytes` {
    // The check values of the catalogue of CRCs and of RFC 3720's patterns under this polynomial.
    @Test(
        arguments: [
            (Array("123456789".utf8), 0xCBF4_3926),
            ([UInt8](repeating: 0, count: 32), 0x190A_55AD),
            ([UInt8](repeating: 0xFF, count: 32), 0xFF6C_AB0B),
            (Array(0..<32), 0x9126_7E8A),
            ([], 0),
        ] as [([UInt8], UInt32)])
    func `known values come out, wherever the bytes are cut`(bytes: [UInt8], expected: UInt32) {
        for place in 0...bytes.count {
            let (head, tail) = (Array(bytes[..<place]), Array(bytes[place...]))
            var crc = CRC32()
            crc.update(head.span)
            crc.update(tail.span)
            #expect(crc.value == expected)
        }
    }
}
