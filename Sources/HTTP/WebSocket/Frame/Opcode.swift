/// The kinds of frames (RFC 6455 §5.2); all others are reserved (H133).
package enum Opcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// Control frames are short, whole, and may stand between the fragments of a message (H134).
    var isControl: Bool { rawValue >= 8 }
}
