import Testing

@testable import HTTP
@testable import WebSockets

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

    @Test func `a close reason is truncated between characters (H140)`() {
        let payload = ClosePayload.write(.normal, String(repeating: "\u{20AC}", count: 50))
        #expect(payload.count == 2 + 123)
        #expect(throws: Never.self) { try ClosePayload.read(payload) }
        #expect(ClosePayload.write(.normal, String(repeating: "\u{1F600}", count: 50)).count == 122)
        #expect(ClosePayload.write(.noStatusReceived, "x") == [])
    }
}

/// A frame sent by the server.
struct ServerFrame: Equatable {
    var opcode: Opcode
    var payload: [UInt8]
    var isCompressed = false

    static func text(_ text: String) -> ServerFrame {
        ServerFrame(opcode: .text, payload: Array(text.utf8))
    }
    static func ping(_ payload: [UInt8] = []) -> ServerFrame {
        ServerFrame(opcode: .ping, payload: payload)
    }
    static func pong(_ payload: [UInt8]) -> ServerFrame {
        ServerFrame(opcode: .pong, payload: payload)
    }

    /// The code of a close frame; `nil` for an empty one.
    var closeCode: UInt16? {
        payload.count < 2 ? nil : UInt16(payload[0]) << 8 | UInt16(payload[1])
    }

    /// Decodes frames; every frame of a server is whole and unmasked (H132, H148).
    static func read(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation)
        -> [ServerFrame]
    {
        var frames: [ServerFrame] = []
        var rest = bytes[...]
        while let first = rest.popFirst(), let second = rest.popFirst() {
            #expect(first & 0x80 != 0 && second & 0x80 == 0, sourceLocation: sourceLocation)
            var count = Int(second)
            if count >= 126 {
                let wide = count == 126 ? 2 : 8
                count = rest.prefix(wide).reduce(0) { sum, byte in sum << 8 | Int(byte) }
                rest = rest.dropFirst(wide)
            }
            #expect(rest.count >= count, sourceLocation: sourceLocation)
            frames.append(
                ServerFrame(
                    opcode: Opcode(rawValue: first & 0x0F) ?? .continuation,
                    payload: Array(rest.prefix(count)), isCompressed: first & 0x40 != 0))
            rest = rest.dropFirst(count)
        }
        return frames
    }
}
