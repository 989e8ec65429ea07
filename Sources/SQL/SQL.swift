/// A statement whose interpolated values are bound, never pasted into its text.
///
/// ```swift
/// let statement: SQL = "SELECT name FROM people WHERE id = \(id) AND age > \(age)"
/// // text: SELECT name FROM people WHERE id = $1 AND age > $2
/// ```
///
/// Values are numbered in the order of appearance, as both SQLite and PostgreSQL accept.
/// A text holds one statement. It is also the key of the prepared statement, so write it as a literal in which
/// only values vary.
public struct SQL: Hashable, Sendable {
    /// The key of the prepared statement.
    package internal(set) var template: StatementTemplate

    /// The values of `$1`, `$2` …
    public package(set) var values: [SQLValue]

    package init(template: StatementTemplate, values: [SQLValue]) {
        self.template = template
        self.values = values
    }

    /// The text with `$1`, `$2` … in place of values.
    public var text: String { template.text }
}

extension SQL: ExpressibleByStringInterpolation {
    /// Makes a statement without values.
    public init(stringLiteral text: String) {
        template = StatementTemplate(text)
        values = []
    }

    /// Makes a statement from its literal and its values.
    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    /// Gathers the text and the values of an interpolated literal.
    public struct StringInterpolation: SQLValueInterpolation {
        fileprivate var sql = SQL(stringLiteral: "")

        /// Reserves space for a literal of this size.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.template.reserve(2 * interpolationCount + 1)
            sql.values.reserveCapacity(interpolationCount)
        }

        /// Appends text of the statement.
        public mutating func appendLiteral(_ literal: String) { sql.template.append(literal) }

        /// Binds a value.
        public mutating func append(_ value: SQLValue) {
            sql.values.append(value)
            sql.template.append(.value)
        }

        /// Whether the preceding expression is one of these values: `id \(in: .integers(ids))`. No value is
        /// in an empty list.
        public mutating func appendInterpolation(in list: SQLArray) {
            sql.values.append(.array(list))
            sql.template.append(.isIn)
        }

        /// Whether the preceding expression is none of these values; every value is absent from an empty list.
        public mutating func appendInterpolation(notIn list: SQLArray) {
            sql.values.append(.array(list))
            sql.template.append(.isNotIn)
        }

        /// A table of the values of arrays of equal length, which are its columns `column1`, `column2` …:
        /// `FROM \(table: "moved", of: [.blobs(ids), .integers(positions)])`.
        ///
        /// On SQLite each length has a different text; keep tables to a few lengths.
        public mutating func appendInterpolation(table name: StaticString, of columns: [SQLArray]) {
            precondition(Set(columns.map(\.count)).count == 1, "columns of different lengths")
            for column in columns { sql.values.append(.array(column)) }
            sql.template.append(.table(name: name.description, columns: columns.count))
        }

        /// Binds rows of equally many values, to follow `VALUES`. Each number of rows has a different text; keep
        /// them to a few.
        public mutating func appendInterpolation(rows: [[SQLValue]]) {
            for (index, row) in rows.enumerated() {
                appendLiteral(index > 0 ? ", (" : "(")
                for (index, value) in row.enumerated() {
                    if index > 0 { appendLiteral(", ") }
                    appendInterpolation(value)
                }
                appendLiteral(")")
            }
        }

        /// Inserts a part of a statement with its values.
        public mutating func appendInterpolation(_ part: SQL) {
            sql.template.append(part.template)
            sql.values += part.values
        }

        /// Locks the rows that a `SELECT` finds until the transaction ends; must be the end of the statement.
        public mutating func appendInterpolation(_ lock: RowLock) {
            sql.template.append(Dialect.rowLock)
        }

        /// Inserts text of the source code: a column, a table, `ASC`.
        public mutating func appendInterpolation(raw text: StaticString) {
            sql.template.append(text.description)
        }
    }
}

/// A literal whose interpolated values are bound. An extension of this protocol binds further types in statements and in
/// rows to insert.
public protocol SQLValueInterpolation: StringInterpolationProtocol
where StringLiteralType == String {
    /// Binds a value.
    mutating func append(_ value: SQLValue)
}

extension SQLValueInterpolation {
    /// Binds a value.
    public mutating func appendInterpolation(_ value: some SQLConvertible) {
        append(value.sqlValue)
    }

    /// Binds a value that may be missing: `nil` as `NULL`, so compare with `IS NOT DISTINCT FROM`.
    public mutating func appendInterpolation<Value: SQLConvertible>(_ value: Value?) {
        append(value?.sqlValue ?? .null)
    }
}

/// A lock on the rows that a `SELECT` has found.
public enum RowLock: Sendable {
    /// Other transactions cannot change the rows until this one ends.
    case untilCommit
}

/// A value in a column or a parameter.
public enum SQLValue: Hashable, Sendable {
    /// No value.
    case null
    /// `BIGINT`; also times (milliseconds since 1970 UTC) and booleans (0, 1).
    case integer(Int64)
    /// `TEXT`, in UTF-8.
    case text(String)
    /// `BYTEA`.
    case blob([UInt8])
    /// A parameter of several values; never in a column.
    case array(SQLArray)

    /// Whether it is `NULL`.
    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// Whether two values are of the same type.
    func hasType(of other: SQLValue) -> Bool {
        switch (self, other) {
        case (.integer, .integer), (.text, .text), (.blob, .blob), (.null, .null): true
        default: false
        }
    }
}

/// A type whose values can be bound to a statement.
public protocol SQLConvertible {
    /// The value as the database stores it.
    var sqlValue: SQLValue { get }
}

extension SQLValue: SQLConvertible {
    /// The value itself.
    public var sqlValue: SQLValue { self }
}

extension Int64: SQLConvertible {
    /// As `BIGINT`.
    public var sqlValue: SQLValue { .integer(self) }
}

extension Int: SQLConvertible {
    /// As `BIGINT`.
    public var sqlValue: SQLValue { .integer(Int64(self)) }
}

extension Bool: SQLConvertible {
    /// As `BIGINT`, 0 or 1.
    public var sqlValue: SQLValue { .integer(self ? 1 : 0) }
}

extension String: SQLConvertible {
    /// As `TEXT`.
    public var sqlValue: SQLValue { .text(self) }
}

extension [UInt8]: SQLConvertible {
    /// As `BYTEA`.
    public var sqlValue: SQLValue { .blob(self) }
}

extension ArraySlice<UInt8>: SQLConvertible {
    /// As `BYTEA`.
    public var sqlValue: SQLValue { .blob(Array(self)) }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    /// The wrapped value, or `NULL`.
    public var sqlValue: SQLValue { self?.sqlValue ?? .null }
}
