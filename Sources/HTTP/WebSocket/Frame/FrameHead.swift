/// The first two to fourteen octets of a frame, taken one at a time (RFC 6455 §5.2).
///
/// Everything that can be wrong with one frame by itself is noticed here, at the octet that is wrong.
struct FrameHead: Sendable {
    private enum Phase: UInt8 { case opcode, length, longLength, key, complete }

    private var phase = Phase.opcode
    /// Octets still to come of a longer length or of the key.
    private var awaited: UInt8 = 0
    private var shortestLong: UInt64 = 0
    private(set) var opcode = Opcode.continuation
    private(set) var isFinal = false
    /// RSV1: the message is compressed (RFC 7692 §6).
    private(set) var isCompressed = false
    private(set) var length: UInt64 = 0
    /// The four octets that mask the payload, the first one highest.
    private(set) var key: UInt32 = 0

    var isComplete: Bool { phase == .complete }
    /// Whether the opcode is known; the length may still come.
    var isAtLength: Bool { phase == .length }
    /// Whether the length is known; the key may still come.
    var isAtKey: Bool { phase == .key && awaited == 4 }

    mutating func take(_ octet: UInt8) throws(WebSocketFault) {
        switch phase {
        case .opcode: try takeOpcode(octet)
        case .length: try takeLength(octet)
        case .longLength:
            length = length << 8 | UInt64(octet)
            awaited -= 1
            if awaited == 0 {
                guard length >= shortestLong, length >> 63 == 0 else {
                    throw WebSocketFault(.protocolError, "H136", "length not in shortest form")
                }
                beginKey()
            }
        case .key:
            key = key << 8 | UInt32(octet)
            awaited -= 1
            if awaited == 0 { phase = .complete }
        case .complete: break
        }
    }

    private mutating func takeOpcode(_ octet: UInt8) throws(WebSocketFault) {
        guard octet & 0x30 == 0, let opcode = Opcode(rawValue: octet & 0x0F) else {
            throw WebSocketFault(.protocolError, "H133", "reserved bit or opcode")
        }
        self.opcode = opcode
        isFinal = octet & 0x80 != 0
        isCompressed = octet & 0x40 != 0
        guard !opcode.isControl || isFinal else {
            throw WebSocketFault(.protocolError, "H134", "fragmented control frame")
        }
        phase = .length
    }

    private mutating func takeLength(_ octet: UInt8) throws(WebSocketFault) {
        guard octet & 0x80 != 0 else {
            throw WebSocketFault(.protocolError, "H132", "frame is not masked")
        }
        length = UInt64(octet & 0x7F)
        guard length > 125 else { return beginKey() }
        guard !opcode.isControl else {
            throw WebSocketFault(.protocolError, "H134", "control frame too long")
        }
        awaited = length == 126 ? 2 : 8
        shortestLong = length == 126 ? 126 : 65_536
        length = 0
        phase = .longLength
    }

    private mutating func beginKey() {
        awaited = 4
        phase = .key
    }
}
