public import JSON
public import Messaging

/// The body of `POST …/receipts` (platform-api §5.2.6, client-api §4.4).
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
    /// The maximum number of intervals in the positions of one receipt.
    public static let intervalLimit = 1000
    /// The largest position of a receipt (ruling 25).
    private static let positionLimit: Int64 = (1 << 36) - 1

    /// The body of `POST …/conversations/{C}/receipts`.
    public struct PositionReceipts: Equatable, Sendable {
        /// The kind.
        public let kind: Receipts.Kind
        /// The dense positions.
        public let positions: IntervalSet
        /// The cursor of the feed with which the positions are known; `nil` if the body names none.
        public let cursor: String?
    }

    /// Reads the dense positions of `POST …/conversations/{C}/receipts` (Y3).
    ///
    /// - Parameter body: An object; unknown members are ignored.
    public static func readPositions(_ body: JSONValue) throws(Rejection) -> PositionReceipts {
        let kind = try read(body)
        guard let value = body.present("positions") else { throw .missing("positions") }
        guard let positions = value.string.flatMap({ IntervalSet(text: $0) }), !positions.isEmpty,
            positions.intervals.count <= intervalLimit,
            positions.intervals.allSatisfy({ $0.upperBound <= positionLimit })
        else { throw .invalid("positions", .receiptPositions) }
        let cursor = body.present("cursor")
        guard cursor == nil || cursor?.string != nil else { throw .invalid("cursor", .feedCursor) }
        return PositionReceipts(kind: kind, positions: positions, cursor: cursor?.string)
    }

    /// Returns the body of a receipt for dense positions; ``readPositions(_:)`` reads it.
    public static func body(
        _ kind: Receipts.Kind, _ positions: IntervalSet, knownAt cursor: String? = nil
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("type", kind.rawValue)
            writer.member("positions", positions.text)
            if let cursor { writer.member("cursor", cursor) }
        }
        return writer.finish()
    }

    /// The schema of what ``readPositions(_:)`` reads.
    public static let positionsSchema = JSONSchema.named(
        "PositionReceipts",
        .object([
            .required("type", .choice(["delivery", "read"])),
            .required("positions", .pattern("[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*")),
            .optional("cursor", .string),
        ]))

    /// The schema of what ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "Receipt", .object([.required("type", .choice(["delivery", "read"]))]))
}

/// Body and answer of `POST …/mark_all_read` (platform-api §5.1.7).
public enum MarkAllReadJSON {
    /// Reads the last position to mark; `nil` for all messages.
    ///
    /// A number between two positions means the lower one, so the remainder of the division by the step is dropped
    /// (ruling 16).
    ///
    /// - Throws: `Rejection.invalid("position")` for a negative number, a fraction, or another type.
    public static func read(_ body: JSONValue) throws(Rejection) -> Position? {
        guard let value = body.present("position") else { return nil }
        guard let number = value.integer, number >= 0 else {
            throw .invalid("position", .readPosition)
        }
        return Position(number / PositionJSON.step)
    }

    /// Returns the response: the position up to which messages are read; `null` if there is no message.
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
    /// The schema of what ``read(_:)`` reads; `null` or no member means all messages.
    public static let schema = JSONSchema.named(
        "ReadUpTo", .object([.optional("position", position)]))

    /// The schema of what ``answer(_:)`` writes.
    public static let answerSchema = JSONSchema.named(
        "ReadingReached", .object([.required("position", position)]))

    private static let position = JSONSchema.integer(0 ... .max).orNull
}
