import Testing

@testable import HTTP

@Suite struct `Frames of the server` {
    @Test(
        arguments: [
            (0, [0x82, 0]), (125, [0x82, 125]), (126, [0x82, 126, 0, 126]),
            (65_535, [0x82, 126, 0xFF, 0xFF]), (65_536, [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `are whole, unmasked and in shortest form (H132, H136, H148)`(count: Int, head: [UInt8]) {
        let payload = [UInt8](repeating: 9, count: count)
        #expect(FrameEncoder.encode(.binary, payload) == head + payload)
    }

    @Test func `a close reason is cut between characters (H140)`() {
        let payload = ClosePayload.write(.normal, String(repeating: "\u{20AC}", count: 50))
        #expect(payload.count == 2 + 123)
        #expect(throws: Never.self) { try ClosePayload.read(payload) }
        #expect(ClosePayload.write(.normal, String(repeating: "\u{1F600}", count: 50)).count == 122)
        #expect(ClosePayload.write(.unstated, "x") == [])
    }
}
