public import JSON
public import Messaging

/// Body and answer of `POST …/mark_all_read` (platform-api §5.1.7).
public enum MarkAllReadJSON {
    /// Reads up to where; `nil` for everything.
    ///
    /// Between two messages the one below counts, so what a position has beyond a whole step is
    /// dropped (rulings 16).
    ///
    /// - Throws: `Rejection.invalid("position")` for what is negative, has a fraction, or is no
    ///   number.
    public static func read(_ body: JSONValue) throws(Rejection) -> Position? {
        guard let value = body.present("position") else { return nil }
        guard let number = value.integer, number >= 0 else {
            throw .invalid("position", .readPosition)
        }
        return Position(number / PositionJSON.step)
    }

    /// The answer: up to where reading is recorded; `null` where there is no message.
    public static func answer(_ position: Position?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("position")
            if let position { PositionJSON.write(position, into: &writer) } else { writer.null() }
        }
        return writer.finish()
    }
}
