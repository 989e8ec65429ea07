/// What a close frame carries: nothing, or a code and a reason (H140).
enum ClosePayload {
    /// Reads what a client sent.
    static func read(_ payload: [UInt8]) throws(WebSocketFault) -> CloseCode {
        guard !payload.isEmpty else { return .unstated }
        guard payload.count >= 2 else {
            throw WebSocketFault(.protocolError, "H140", "close payload of one octet")
        }
        let code = CloseCode(UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else {
            throw WebSocketFault(.protocolError, "H140", "close code not allowed")
        }
        var check = UTF8Check()
        guard check.take(payload.span.extracting(2..<payload.count)), check.isComplete else {
            throw WebSocketFault(.invalidData, "H140", "close reason is not UTF-8")
        }
        return code
    }

    /// Writes a code and a reason; ``CloseCode/unstated`` gives nothing, a long reason is cut.
    static func write(_ code: CloseCode, _ reason: String) -> [UInt8] {
        guard code != .unstated else { return [] }
        var payload = [UInt8(code.number >> 8), UInt8(truncatingIfNeeded: code.number)]
        // Cut between characters: half of one would not be UTF-8 (RFC 6455 §5.5.1).
        for character in reason {
            guard payload.count + character.utf8.count <= 125 else { break }
            payload += character.utf8
        }
        return payload
    }
}
