internal import Bytes
import JSON
public import Messaging

/// Times in JSON: ISO 8601, UTC, exactly three fractional digits, `Z`, because one client parses strictly
/// (platform-api §1.8).
public enum TimestampJSON {
    /// Returns a time such as `2026-03-01T09:15:30.042Z`; years beyond 9999 have more digits.
    public static func text(_ timestamp: Timestamp) -> String {
        ISO8601.text(timestamp.milliseconds)
    }

    /// Writes a time in the same form; `null` for `nil`.
    static func write(_ timestamp: Timestamp?, into writer: inout JSONWriter) {
        guard let timestamp else { return writer.null() }
        writer.string(thenAtMost: ISO8601.maximumSize) { text in
            ISO8601.append(timestamp.milliseconds, to: &text)
        }
    }

    /// Parses a time with an offset: `2026-03-01T09:15:30.042Z`, `…T10:15+01:00` (platform-api §1.8).
    ///
    /// - Returns: `nil` for any other text, including days that do not exist; see ``ISO8601/parse(_:)``.
    public static func read(_ text: String) -> Timestamp? {
        ISO8601.parse(text).map(Timestamp.init(milliseconds:))
    }

    /// Parses a string as ``read(_:)-(String)`` does; `nil` for another value or none.
    static func read(_ value: JSONValue?) -> Timestamp? {
        value?.string.flatMap { text in read(text) }
    }
}
