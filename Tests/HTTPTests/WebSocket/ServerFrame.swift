import Testing

@testable import HTTP

/// A frame as the server sent it.
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

    /// Takes octets apart; every frame of a server is whole and unmasked (H132, H148).
    static func read(_ octets: [UInt8], sourceLocation: SourceLocation = #_sourceLocation)
        -> [ServerFrame]
    {
        var frames: [ServerFrame] = []
        var rest = octets[...]
        while let first = rest.popFirst(), let second = rest.popFirst() {
            #expect(first & 0x80 != 0 && second & 0x80 == 0, sourceLocation: sourceLocation)
            var count = Int(second)
            if count >= 126 {
                let wide = count == 126 ? 2 : 8
                count = rest.prefix(wide).reduce(0) { sum, octet in sum << 8 | Int(octet) }
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
