import Testing

@testable import HTTP

/// Frames of a client and what becomes of them.
struct FrameCase: Sendable, CustomTestStringConvertible {
    let name: String
    let octets: [UInt8]
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
        octets = frames.octets
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
            "125, 126, 127 octets",
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
            "ping of 125 octets", [.ping([UInt8](repeating: 1, count: 125))],
            [.ping([UInt8](repeating: 1, count: 125))]),
        FrameCase("empty close", [.close()], [.close(.unstated)]),
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
                "ping of 126 octets", [.ping([UInt8](repeating: 1, count: 126))], [],
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
                "5 in sixteen bits", [ClientFrame(opcode: 1, payload: hello, lengthOctets: 2)], [],
                .protocolError, "H136"),
            FrameCase(
                "5 in sixty-four bits", [ClientFrame(opcode: 1, payload: hello, lengthOctets: 8)],
                [], .protocolError, "H136"),
            FrameCase(
                "65535 in sixty-four bits",
                [ClientFrame(opcode: 2, lengthOctets: 8, claimed: 65_535)], [], .protocolError,
                "H136"),
            FrameCase(
                "the top bit of a length",
                [ClientFrame(opcode: 2, lengthOctets: 8, claimed: 1 << 63)], [], .protocolError,
                "H136"),
            FrameCase(
                "more than the largest frame", [ClientFrame(opcode: 2, claimed: 1 << 62)], [],
                .tooBig, "H138"),
            FrameCase(
                "one octet over the frame", [.binary(hello)], [], .tooBig, "H138",
                { limits in limits.frame = 4 }),
            FrameCase(
                "one octet over the message",
                [.binary([1, 2, 3], isFinal: false), .more([4], isFinal: true)], [], .tooBig,
                "H138", { limits in limits.message = 3 }),
            FrameCase(
                "text that ends inside a character",
                [.binary([1]), .text("a", isFinal: false)]
                    + [.more([0xE2, 0x82], isFinal: true)], [.message(.binary([1]))], .invalidData,
                "H137"),
            FrameCase("close of one octet", [.close([3])], [], .protocolError, "H140"),
            FrameCase(
                "a close reason that is not UTF-8", [.close([3, 0xE8, 0xFF])], [], .invalidData,
                "H140"),
            FrameCase(
                "a close reason that ends inside a character", [.close([3, 0xE8, 0xC3])], [],
                .invalidData, "H140"),
            FrameCase(
                "binary on a text-only route", [.binary([1])], [], .unacceptable, "H149",
                { limits in limits.isTextOnly = true }),
        ]
        + [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map { opcode in
            FrameCase(
                "opcode \(opcode)", [ClientFrame(opcode: opcode)], [], .protocolError, "H133")
        }
}
