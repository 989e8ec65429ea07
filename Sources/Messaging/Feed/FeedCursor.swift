/// A place in the feed of a user: everything up to a position of the event log of one database (Y1).
///
/// The text `EPOCH.POSITION` is opaque to clients. A database that was restored from a backup has another epoch, so its
/// positions are not taken for those of the lost events.
public struct FeedCursor: Equatable, Sendable {
    /// Identifies the history of the database: 16 lower-case hexadecimal digits.
    public let epoch: String
    /// The position in the event log of the application.
    public let position: LogPosition

    /// Creates a cursor.
    public init(epoch: String, position: LogPosition) {
        self.epoch = epoch
        self.position = position
    }

    /// Parses the text of a cursor; `nil` for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16,
            parts[0].utf8.allSatisfy(Self.isDigit),
            let number = Int64(parts[1]), number >= 0, String(number) == parts[1]
        else { return nil }
        self.init(epoch: String(parts[0]), position: LogPosition(number))
    }

    /// The cursor as text.
    public var text: String { "\(epoch).\(position.number)" }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
