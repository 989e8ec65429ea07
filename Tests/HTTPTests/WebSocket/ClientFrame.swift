/// A frame as clients send it, or as they should not.
struct ClientFrame {
    var opcode: UInt8
    var payload: [UInt8] = []
    var isFinal = true
    /// RSV1–3, as they stand in the first octet.
    var reserved: UInt8 = 0
    var key: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]
    /// How many octets the length takes: 0, 2 or 8; the shortest when `nil`.
    var lengthOctets: Int?
    /// What the length says, when it lies.
    var claimed: UInt64?

    static func text(_ text: String, isFinal: Bool = true) -> ClientFrame {
        ClientFrame(opcode: 1, payload: Array(text.utf8), isFinal: isFinal)
    }
    static func binary(_ octets: [UInt8], isFinal: Bool = true) -> ClientFrame {
        ClientFrame(opcode: 2, payload: octets, isFinal: isFinal)
    }
    static func more(_ octets: [UInt8], isFinal: Bool = false) -> ClientFrame {
        ClientFrame(opcode: 0, payload: octets, isFinal: isFinal)
    }
    static func ping(_ octets: [UInt8] = []) -> ClientFrame {
        ClientFrame(opcode: 9, payload: octets)
    }
    static func close(_ octets: [UInt8] = []) -> ClientFrame {
        ClientFrame(opcode: 8, payload: octets)
    }
    static func close(_ code: UInt16, _ reason: String = "") -> ClientFrame {
        close([UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    var octets: [UInt8] {
        let length = claimed ?? UInt64(payload.count)
        let wide = lengthOctets ?? (length < 126 ? 0 : length < 65_536 ? 2 : 8)
        let short = wide == 0 ? UInt8(truncatingIfNeeded: length) : wide == 2 ? 126 : 127
        var octets = [
            (isFinal ? 0x80 : 0) | reserved | opcode, (key == nil ? 0 : 0x80) | short,
        ]
        for place in (0..<wide).reversed() {
            octets.append(UInt8(truncatingIfNeeded: length >> UInt64(8 * place)))
        }
        guard let key else { return octets + payload }
        octets += key
        octets += payload.enumerated().map { index, octet in octet ^ key[index % 4] }
        return octets
    }
}

extension [ClientFrame] {
    var octets: [UInt8] { flatMap(\.octets) }
}
