import JSON
import Messaging

/// Places as numbers: multiples of 65,536, as the original service showed them (platform-api §3.3).
enum PositionJSON {
    static let step: Int64 = 65_536

    /// No position comes near 2^47, where this ends at the largest number instead of trapping: imports
    /// begin below 2^36 (ruling 25), and every later position is a row that was written.
    static func number(_ position: Position) -> Int64 {
        let (number, isTooLarge) = position.number.multipliedReportingOverflow(by: step)
        return isTooLarge ? .max : number
    }

    static func write(_ position: Position, into writer: inout JSONWriter) {
        writer.integer(number(position))
    }
}
