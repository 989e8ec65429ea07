public import JSON
public import Messaging

/// The body of `POST …/receipts` (client-api: receipts).
public enum ReceiptJSON {
    /// Reads the kind of a receipt.
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func read(_ body: JSONValue) throws(Rejection) -> Receipts.Kind {
        guard let type = body.present("type") else { throw .missing("type") }
        guard let kind = type.string.flatMap(Receipts.Kind.init(rawValue:)) else {
            throw .invalid("type", .receiptType, .init(text: type.string))
        }
        return kind
    }
}

extension ReceiptJSON {
    /// What ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "Receipt", .object([.required("type", .choice(["delivery", "read"]))]))
}

/// Body and answer of `POST …/mark_all_read` (platform-api §5.1.7).
public enum MarkAllReadJSON {
    /// Reads the last position to mark; `nil` for all messages.
    ///
    /// Between two messages the lower one counts, so the remainder of a division by the step is dropped
    /// (rulings 16).
    ///
    /// - Throws: `Rejection.invalid("position")` for a negative number, a fraction, or another type.
    public static func read(_ body: JSONValue) throws(Rejection) -> Position? {
        guard let value = body.present("position") else { return nil }
        guard let number = value.integer, number >= 0 else {
            throw .invalid("position", .readPosition)
        }
        return Position(number / PositionJSON.step)
    }

    /// The response: the position up to which messages are read; `null` if there is no message.
    public static func answer(_ position: Position?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.key("position")
            if let position { PositionJSON.write(position, into: &writer) } else { writer.null() }
        }
        return writer.finish()
    }
}

extension MarkAllReadJSON {
    /// What ``read(_:)`` reads; `null` or no member means all messages.
    public static let schema = JSONSchema.named(
        "ReadUpTo", .object([.optional("position", position)]))

    /// What ``answer(_:)`` writes.
    public static let answerSchema = JSONSchema.named(
        "ReadingReached", .object([.required("position", position)]))

    private static let position = JSONSchema.integer(0 ... .max).orNull
}
