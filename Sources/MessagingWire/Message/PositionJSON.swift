import JSON
import Messaging

/// Places as numbers: multiples of 65,536, as the original service showed them (platform-api §3.3).
enum PositionJSON {
    static let step: Int64 = 65_536

    static func number(_ position: Position) -> Int64 { position.number * step }

    static func write(_ position: Position, into writer: inout JSONWriter) {
        writer.integer(number(position))
    }
}
