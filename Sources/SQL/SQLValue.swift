/// A value in a column or a parameter.
public enum SQLValue: Hashable, Sendable {
    /// No value.
    case null
    /// `BIGINT`: also times (milliseconds since 1970 UTC) and truth (0, 1).
    case integer(Int64)
    /// `TEXT`, in UTF-8.
    case text(String)
    /// `BYTEA`.
    case blob([UInt8])
}
