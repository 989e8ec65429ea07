import TestSupport
import Testing

@testable import HTTP
@testable import WebSockets

@Suite struct `Compressed messages` {
    private static let plain =
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    @Test(arguments: [
        ("permessage-deflate", ""), ("PerMessage-Deflate", ""),
        ("permessage-deflate; client_max_window_bits", ""),
        ("permessage-deflate; client_max_window_bits=8", ""),
        ("permessage-deflate;server_no_context_takeover;client_no_context_takeover", ""),
        ("permessage-deflate; server_max_window_bits=10", "; server_max_window_bits=10"),
        ("permessage-deflate ; server_max_window_bits = \"9\"", "; server_max_window_bits=9"),
        ("permessage-deflate; server_max_window_bits=15", "; server_max_window_bits=12"),
        ("x-other; a=\"b\", permessage-deflate", ""),
        (
            "permessage-deflate; unknown, permessage-deflate; server_max_window_bits=8,"
                + " permessage-deflate; client_max_window_bits=15", ""
        ),
    ])
    func `are agreed on with valid parameters only (H150)`(offer: String, more: String) {
        #expect(agreed(offer) == Self.plain + more)
    }

    @Test(arguments: [
        "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=8",
        "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=010",
        "permessage-deflate; server_max_window_bits=+9",
        "permessage-deflate; client_max_window_bits=7",
        "permessage-deflate; client_max_window_bits=x",
        "permessage-deflate; client_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover=true",
        "permessage-deflate; client_no_context_takeover; client_no_context_takeover",
        "permessage-bzip2", "x-other; a=\"b,c\", permessage-deflate", "permessage-deflate;",
        "permessage-deflate; =1", ",",
        "permessage-deflate; server_max_window_bits=\"9", "permessage deflate", "",
    ])
    func `are declined without an error where an offer cannot be met (H150)`(offer: String) {
        #expect(agreed(offer) == nil)
    }

    @Test(arguments: 0..<100)
    func `are decoded unchanged, for every window and however they are split (H150)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let words = (0..<20).map { _ in "word\(random.number(0...99)) \u{20AC}" }
        let text = (0..<random.number(0...2000)).map { _ in random.one(of: words) }.joined()
        let payload = MessageDeflater.deflate(Array(text.utf8), windowBits: random.number(9...15))
        let cut = random.number(0...payload.count)
        let frames = [
            ClientFrame(
                opcode: 1, payload: Array(payload[..<cut]), isFinal: false, reserved: 0x40),
            .more(Array(payload[cut...]), isFinal: true),
        ]
        let reading = DecodedFrames(
            frames.bytes, cuts: random.cuts(of: frames.bytes.count), limits(1 << 20))
        #expect(reading.events == [.message(.text(Array(text.utf8)))])
        #expect(reading.fault == nil)
    }

    // RFC 7692 §7.2.3: one block, no compression, a final block, two blocks, fragments.
    @Test(
        arguments: [
            [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
        ] as [[UInt8]])
    func `are decoded as in the examples of RFC 7692 (H150)`(payload: [UInt8]) {
        let bytes = ClientFrame(opcode: 1, payload: payload, reserved: 0x40).bytes
        #expect(
            DecodedFrames(bytes, limits(1 << 20)).events == [.message(.text(Array("Hello".utf8)))])
        expectSameFramesForEverySplit(bytes, limits(1 << 20))
    }

    @Test(arguments: [[0xFF, 0xFF, 0xFF], [0xF2, 0x48, 0xCD], [0x06, 0x01], []] as [[UInt8]])
    func `that are damaged end the socket (H150)`(payload: [UInt8]) {
        let bytes = ClientFrame(opcode: 2, payload: payload, reserved: 0x40).bytes
        #expect(DecodedFrames(bytes, limits(1 << 20)).fault?.code == .invalidData)
        expectSameFramesForEverySplit(bytes, limits(1 << 20))
    }

    @Test func `may not exceed the limit (H138, H150)`() {
        let bomb = MessageDeflater.deflate([UInt8](repeating: 0, count: 10 << 20), windowBits: 15)
        let bytes = ClientFrame(opcode: 2, payload: bomb, reserved: 0x40).bytes
        #expect(DecodedFrames(bytes, limits(10 << 20)).events.count == 1)
        #expect(DecodedFrames(bytes, limits(10 << 20 - 1)).fault?.code == .tooBig)
        #expect(DecodedFrames(bytes, limits(1 << 20)).fault?.code == .tooBig)
    }

    @Test func `are validated as text while they are inflated (H137, H150)`() {
        let payload = MessageDeflater.deflate(Array("ok".utf8) + [0xFF], windowBits: 15)
        let bytes = ClientFrame(opcode: 1, payload: payload, reserved: 0x40).bytes
        #expect(DecodedFrames(bytes, limits(1 << 20)).fault?.code == .invalidData)
    }

    @Test(arguments: 0..<200)
    func `that are mutated never trap, and every split gives the same result (H215)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        let text = Array(String(repeating: "mutation ", count: 30).utf8)
        let payload = random.mutation(of: MessageDeflater.deflate(text, windowBits: 12))
        let bytes = ClientFrame(opcode: 1, payload: payload, reserved: 0x40).bytes
        #expect(
            DecodedFrames(bytes, cuts: random.cuts(of: bytes.count), limits(4096))
                == DecodedFrames(bytes, limits(4096)))
    }

    private func agreed(_ offer: String) -> String? {
        CompressionOffer.accept(
            Fields([("Sec-WebSocket-Extensions", offer)]), WebSocketCompression(windowBits: 12))?
            .line
    }

    private func limits(_ message: Int) -> FrameLimits {
        var limits = FrameLimits()
        limits.message = message
        limits.inflates = true
        return limits
    }
}
