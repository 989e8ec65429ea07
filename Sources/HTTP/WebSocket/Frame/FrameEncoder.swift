/// Writes the frames of a server: whole, and never masked (H132).
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
