/// A statement whose interpolated values are bound, never pasted into its text.
///
/// ```swift
/// let statement: SQL = "SELECT name FROM people WHERE id = \(id) AND age > \(age)"
/// // text: SELECT name FROM people WHERE id = $1 AND age > $2
/// ```
///
/// Values are numbered in the order they appear, which both SQLite and PostgreSQL understand.
/// One statement a text; the text is also what a prepared statement is kept under, so write it as a
/// literal and let only values vary.
public struct SQL: Hashable, Sendable {
    /// What a prepared statement is found by; its text is put together only when there is none.
    var phrase: Phrase

    /// The values of `$1`, `$2` …
    public internal(set) var values: [SQLValue]

    /// The text with `$1`, `$2` … in place of values.
    public var text: String { phrase.text }
}

extension SQL: ExpressibleByStringInterpolation {
    /// Makes a statement without values.
    public init(stringLiteral text: String) {
        phrase = Phrase(text)
        values = []
    }

    /// Makes a statement from its literal and its values.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    /// Gathers the text and the values of an interpolated literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        var sql = SQL(stringLiteral: "")

        /// Makes room for a literal of this size.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.phrase.reserve(2 * interpolationCount + 1)
            sql.values.reserveCapacity(interpolationCount)
        }

        /// Takes a piece of the statement's text.
        public mutating func appendLiteral(_ literal: String) { sql.phrase.append(literal) }

        /// Binds a value.
        public mutating func appendInterpolation(_ value: some SQLConvertible) {
            sql.values.append(value.sqlValue)
            sql.phrase.appendValue()
        }

        /// Binds a value that may be missing: `nil` as `NULL`, so compare with `IS NOT DISTINCT FROM`.
        public mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
            appendInterpolation(value.sqlValue)
        }

        /// Binds several values, parted by commas: `id IN (\(list: ids))`.
        ///
        /// An empty list becomes `NULL`, so that `IN` then finds nothing. (`NOT IN` finds nothing
        /// either: ask whether the list is empty before writing that.) Each length is a text of its
        /// own; keep lists to a few lengths.
        public mutating func appendInterpolation(list values: [some SQLConvertible]) {
            guard !values.isEmpty else { return appendLiteral("NULL") }
            for (index, value) in values.enumerated() {
                if index > 0 { sql.phrase.append(", ") }
                appendInterpolation(value)
            }
        }

        /// Puts a part of a statement in its place, its values among the others.
        public mutating func appendInterpolation(_ part: SQL) {
            sql.phrase.append(part.phrase)
            sql.values += part.values
        }

        /// Keeps the rows a `SELECT` finds from being changed by others until the transaction ends;
        /// stands at its end.
        public mutating func appendInterpolation(_ lock: RowLock) {
            sql.phrase.append(Dialect.rowLock)
        }

        /// Puts text of the source code into the statement: a column, a table, `ASC`.
        public mutating func appendInterpolation(raw text: StaticString) {
            sql.phrase.append(text.description)
        }
    }
}

/// Who may change the rows that a `SELECT` has found.
public enum RowLock: Sendable {
    /// Nobody else, until the transaction ends.
    case untilCommit
}
