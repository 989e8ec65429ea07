/// What can be bound to a statement.
///
/// Identifiers and positions conform where they are stored, so that statements name them directly.
public protocol SQLConvertible {
    /// The value as the database keeps it.
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
