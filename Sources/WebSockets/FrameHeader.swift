internal import Bytes

/// The frame types (RFC 6455 §5.2); all others are reserved (H133).
package enum Opcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    /// Whether it is a control frame, which is short, not fragmented, and allowed between the
    /// fragments of a message (H134).
    var isControl: Bool { rawValue >= 8 }
}

/// The header of a frame, two to fourteen bytes, parsed one byte at a time (RFC 6455 §5.2).
///
/// Every fault of a single frame is detected here, at the byte that causes it.
struct FrameHeader: Sendable {
    private enum Phase: UInt8 { case opcode, length, longLength, key, complete }

    private var phase = Phase.opcode
    /// How many bytes of the extended length or of the key are missing.
    private var awaited: UInt8 = 0
    private var shortestLong: UInt64 = 0
    private(set) var opcode = Opcode.continuation
    private(set) var isFinal = false
    /// RSV1: the message is compressed (RFC 7692 §6).
    private(set) var isCompressed = false
    private(set) var length: UInt64 = 0
    /// The masking key, its first byte highest.
    private(set) var key: UInt32 = 0

    var isComplete: Bool { phase == .complete }
    /// Whether the opcode is known but the length is not.
    var isAtLength: Bool { phase == .length }
    /// Whether the length is known and the key has not begun.
    var isAtKey: Bool { phase == .key && awaited == 4 }

    mutating func take(_ byte: UInt8) throws(WebSocketFault) {
        switch phase {
        case .opcode: try takeOpcode(byte)
        case .length: try takeLength(byte)
        case .longLength:
            length = length << 8 | UInt64(byte)
            awaited -= 1
            if awaited == 0 {
                guard length >= shortestLong, length >> 63 == 0 else {
                    throw WebSocketFault(.protocolError, "H136", "length not in shortest form")
                }
                beginKey()
            }
        case .key:
            key = key << 8 | UInt32(byte)
            awaited -= 1
            if awaited == 0 { phase = .complete }
        case .complete: break
        }
    }

    private mutating func takeOpcode(_ byte: UInt8) throws(WebSocketFault) {
        guard byte & 0x30 == 0, let opcode = Opcode(rawValue: byte & 0x0F) else {
            throw WebSocketFault(.protocolError, "H133", "reserved bit or opcode")
        }
        self.opcode = opcode
        isFinal = byte & 0x80 != 0
        isCompressed = byte & 0x40 != 0
        guard !opcode.isControl || isFinal else {
            throw WebSocketFault(.protocolError, "H134", "fragmented control frame")
        }
        phase = .length
    }

    private mutating func takeLength(_ byte: UInt8) throws(WebSocketFault) {
        guard byte & 0x80 != 0 else {
            throw WebSocketFault(.protocolError, "H132", "frame is not masked")
        }
        length = UInt64(byte & 0x7F)
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

extension [UInt8] {
    /// Appends masked payload after unmasking it (RFC 6455 §5.3), eight bytes at a time.
    ///
    /// - Parameters:
    ///   - key: The masking key, its first byte highest.
    ///   - position: How many bytes of the payload precede these.
    mutating func append(
        unmasking input: Span<UInt8>, _ range: Range<Int>, key: UInt32, position: UInt64
    ) {
        let turns = UInt32(truncatingIfNeeded: (position & 3) * 8)
        let four = key << turns | key >> ((32 - turns) & 31)
        let eight = UInt64(four) << 32 | UInt64(four)
        append(atMost: range.count) { output in
            let input = input.extracting(range)
            // Both have `range.count` bytes: the input was cut to them, the capacity was requested.
            unsafe input.withUnsafeBytes { source in
                unsafe output.withUnsafeMutableBufferPointer { storage, filled in
                    let target = UnsafeMutableRawBufferPointer(storage)
                    var index = 0
                    while index + 8 <= source.count {
                        let bytes = unsafe source.loadUnaligned(
                            fromByteOffset: index, as: UInt64.self)
                        unsafe target.storeBytes(
                            of: bytes ^ eight.bigEndian, toByteOffset: index, as: UInt64.self)
                        index += 8
                    }
                    while index < source.count {
                        let shift = UInt32(24 - 8 * (index & 3))
                        unsafe target[index] =
                            source[index] ^ UInt8(truncatingIfNeeded: four >> shift)
                        index += 1
                    }
                    filled += source.count
                }
            }
        }
    }
}
