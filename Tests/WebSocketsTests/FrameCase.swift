import Testing

@testable import HTTP
@testable import WebSockets

/// Frames of a client with the expected events or fault.
struct FrameCase: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let events: [FrameDecoder.Event]
    let code: CloseCode?
    let rule: String?
    var limits = FrameLimits()

    var testDescription: String { name }

    private init(
        _ name: String, _ frames: [ClientFrame], _ events: [FrameDecoder.Event] = [],
        _ code: CloseCode? = nil, _ rule: String? = nil,
        _ limit: (inout FrameLimits) -> Void = { _ in }
    ) {
        self.name = name
        bytes = frames.bytes
        self.events = events
        self.code = code
        self.rule = rule
        limit(&limits)
    }

    private static let hello = Array("Hello".utf8)
    private static let empty: [UInt8] = []

    static let accepted = [
        FrameCase("text", [.text("Hello")], [.message(.text(hello))]),
        FrameCase("empty text", [.text("")], [.message(.text([]))]),
        FrameCase("binary", [.binary([0, 255])], [.message(.binary([0, 255]))]),
        FrameCase(
            "125, 126, 127 bytes",
            [125, 126, 127].map { count in .binary([UInt8](repeating: 7, count: count)) },
            [125, 126, 127].map { count in
                .message(.binary([UInt8](repeating: 7, count: count)))
            }),
        FrameCase(
            "two fragments",
            [.text("Hel", isFinal: false), .more(Array("lo".utf8), isFinal: true)],
            [.message(.text(hello))]),
        FrameCase(
            "control frames between fragments",
            [
                .text("Hel", isFinal: false), .ping([1]), .more(empty),
                ClientFrame(opcode: 10), .more(Array("lo".utf8), isFinal: true),
            ],
            [.ping([1]), .pong, .message(.text(hello))]),
        FrameCase(
            "a character cut by a fragment",
            [
                .text("", isFinal: false), .more([0xE2]), .more([0x82]),
                .more([0xAC], isFinal: true),
            ],
            [.message(.text([0xE2, 0x82, 0xAC]))]),
        FrameCase(
            "ping of 125 bytes", [.ping([UInt8](repeating: 1, count: 125))],
            [.ping([UInt8](repeating: 1, count: 125))]),
        FrameCase("empty close", [.close()], [.close(.noStatusReceived)]),
        FrameCase(
            "close with a reason", [.close(1000, "b\u{FC}e")], [.close(.normal)]),
        FrameCase(
            "as many fragments as may be",
            [.text("", isFinal: false), .more(empty, isFinal: true)],
            [.message(.text([]))], nil, nil, { limits in limits.fragments = 2 }),
        FrameCase(
            "a message of exactly the limit",
            [.text("Hel", isFinal: false), .more(Array("lo".utf8), isFinal: true)],
            [.message(.text(hello))], nil, nil, { limits in limits.message = 5 }),
        FrameCase(
            "text on a text-only route", [.text("Hello")], [.message(.text(hello))], nil, nil,
            { limits in limits.isTextOnly = true }),
    ]

    static let refused =
        [
            FrameCase(
                "not masked", [ClientFrame(opcode: 1, key: nil)], [], .protocolError, "H132"),
            FrameCase(
                "RSV1 without extension", [ClientFrame(opcode: 1, reserved: 0x40)], [],
                .protocolError, "H133"),
            FrameCase(
                "RSV2", [ClientFrame(opcode: 1, reserved: 0x20)], [], .protocolError, "H133"),
            FrameCase(
                "RSV3", [ClientFrame(opcode: 1, reserved: 0x10)], [], .protocolError, "H133"),
            FrameCase(
                "RSV1 on a continuation",
                [.text("a", isFinal: false), ClientFrame(opcode: 0, reserved: 0x40)], [],
                .protocolError, "H133", { limits in limits.inflates = true }),
            FrameCase(
                "RSV1 on a ping", [ClientFrame(opcode: 9, reserved: 0x40)], [], .protocolError,
                "H133", { limits in limits.inflates = true }),
            FrameCase(
                "fragmented ping", [ClientFrame(opcode: 9, isFinal: false)], [], .protocolError,
                "H134"),
            FrameCase(
                "ping of 126 bytes", [.ping([UInt8](repeating: 1, count: 126))], [],
                .protocolError, "H134"),
            FrameCase("continuation of nothing", [.more([1])], [], .protocolError, "H135"),
            FrameCase(
                "continuation after the end", [.text("a"), .more([1])], [.message(.text([0x61]))],
                .protocolError, "H135"),
            FrameCase(
                "a new message inside one", [.text("a", isFinal: false), .text("b")], [],
                .protocolError, "H135"),
            FrameCase(
                "too many fragments",
                [.text("a", isFinal: false), .more(empty), .more(empty, isFinal: true)], [],
                .tooBig, "H135", { limits in limits.fragments = 2 }),
            FrameCase(
                "5 in sixteen bits", [ClientFrame(opcode: 1, payload: hello, lengthBytes: 2)], [],
                .protocolError, "H136"),
            FrameCase(
                "5 in sixty-four bits", [ClientFrame(opcode: 1, payload: hello, lengthBytes: 8)],
                [], .protocolError, "H136"),
            FrameCase(
                "65535 in sixty-four bits",
                [ClientFrame(opcode: 2, lengthBytes: 8, claimed: 65_535)], [], .protocolError,
                "H136"),
            FrameCase(
                "the top bit of a length",
                [ClientFrame(opcode: 2, lengthBytes: 8, claimed: 1 << 63)], [], .protocolError,
                "H136"),
            FrameCase(
                "more than the largest frame", [ClientFrame(opcode: 2, claimed: 1 << 62)], [],
                .tooBig, "H138"),
            FrameCase(
                "one byte over the frame", [.binary(hello)], [], .tooBig, "H138",
                { limits in limits.frame = 4 }),
            FrameCase(
                "one byte over the message",
                [.binary([1, 2, 3], isFinal: false), .more([4], isFinal: true)], [], .tooBig,
                "H138", { limits in limits.message = 3 }),
            FrameCase(
                "text that ends inside a character",
                [.binary([1]), .text("a", isFinal: false)]
                    + [.more([0xE2, 0x82], isFinal: true)], [.message(.binary([1]))], .invalidData,
                "H137"),
            FrameCase("close of one byte", [.close([3])], [], .protocolError, "H140"),
            FrameCase(
                "a close reason that is not UTF-8", [.close([3, 0xE8, 0xFF])], [], .invalidData,
                "H140"),
            FrameCase(
                "a close reason that ends inside a character", [.close([3, 0xE8, 0xC3])], [],
                .invalidData, "H140"),
            FrameCase(
                "binary on a text-only route", [.binary([1])], [], .unsupportedData, "H149",
                { limits in limits.isTextOnly = true }),
        ]
        + [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map { opcode in
            FrameCase(
                "opcode \(opcode)", [ClientFrame(opcode: opcode)], [], .protocolError, "H133")
        }
}

/// A client's frame, valid or not.
struct ClientFrame {
    var opcode: UInt8
    var payload: [UInt8] = []
    var isFinal = true
    /// RSV1–3 as in the first byte.
    var reserved: UInt8 = 0
    var key: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]
    /// How many bytes encode the length: 0, 2 or 8; the fewest possible when `nil`.
    var lengthBytes: Int?
    /// The encoded length when it is wrong.
    var claimed: UInt64?

    static func text(_ text: String, isFinal: Bool = true) -> ClientFrame {
        ClientFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
    }
    static func binary(_ bytes: [UInt8], isFinal: Bool = true) -> ClientFrame {
        ClientFrame(opcode: 2, payload: bytes, isFinal: isFinal)
    }
    static func more(_ bytes: [UInt8], isFinal: Bool = false) -> ClientFrame {
        ClientFrame(opcode: 0, payload: bytes, isFinal: isFinal)
    }
    static func ping(_ bytes: [UInt8] = []) -> ClientFrame {
        ClientFrame(opcode: 9, payload: bytes)
    }
    static func close(_ bytes: [UInt8] = []) -> ClientFrame {
        ClientFrame(opcode: 8, payload: bytes)
    }
    static func close(_ code: UInt16, _ reason: String = "") -> ClientFrame {
        close([UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    var bytes: [UInt8] {
        let length = claimed ?? UInt64(payload.count)
        let wide = lengthBytes ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8)
        let short = wide == 0 ? UInt8(truncatingIfNeeded: length) : wide == 2 ? 126 : 127
        var bytes = [
            (isFinal ? 0x80 : 0) | reserved | opcode, (key == nil ? 0 : 0x80) | short,
        ]
        for index in (0..<wide).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: length >> UInt64(8 * index)))
        }
        guard let key else { return bytes + payload }
        bytes += key
        bytes += payload.enumerated().map { index, byte in byte ^ key[index % 4] }
        return bytes
    }
}

extension [ClientFrame] {
    var bytes: [UInt8] { flatMap(\.bytes) }
}
