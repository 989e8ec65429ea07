/// Encodes the server's frames: never fragmented, never masked (H132).
///
/// A message is always one frame, so nothing can come between its fragments (H148).
package enum FrameEncoder {
    /// A frame with its payload.
    package static func encode(
        _ opcode: Opcode, _ payload: [UInt8], isCompressed: Bool = false
    ) -> [UInt8] {
        let count = payload.count
        var frame: [UInt8] = []
        frame.reserveCapacity(count + 10)
        frame.append(0x80 | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        switch count {
        case ..<126: frame.append(UInt8(count))
        case ..<65_536: frame += [126, UInt8(count >> 8), UInt8(count & 0xFF)]
        default:
            frame.append(127)
            for shift in stride(from: 56, through: 0, by: -8) {
                frame.append(UInt8(truncatingIfNeeded: count >> shift))
            }
        }
        frame += payload
        return frame
    }
}

/// The payload of a close frame: nothing, or a code and a reason (H140).
enum ClosePayload {
    /// Parses and validates a client's payload.
    static func read(_ payload: [UInt8]) throws(WebSocketFault) -> CloseCode {
        guard !payload.isEmpty else { return .noStatusReceived }
        guard payload.count >= 2 else {
            throw WebSocketFault(.protocolError, "H140", "close payload of one byte")
        }
        let code = CloseCode(UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else {
            throw WebSocketFault(.protocolError, "H140", "close code not allowed")
        }
        var check = UTF8Validator()
        guard check.take(payload.span.extracting(2..<payload.count)), check.isComplete else {
            throw WebSocketFault(.invalidData, "H140", "close reason is not UTF-8")
        }
        return code
    }

    /// Encodes a code and a reason; nothing for ``CloseCode/noStatusReceived``. A long reason is
    /// truncated.
    static func write(_ code: CloseCode, _ reason: String) -> [UInt8] {
        guard code != .noStatusReceived else { return [] }
        var payload = [UInt8(code.number >> 8), UInt8(truncatingIfNeeded: code.number)]
        // Truncated between characters, because a partial one would not be UTF-8 (RFC 6455 §5.5.1).
        for character in reason {
            guard payload.count + character.utf8.count <= 125 else { break }
            payload += character.utf8
        }
        return payload
    }
}
