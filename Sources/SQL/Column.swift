/// How a column of a row is named: `row.text("name")`, `row.text(0)`.
public enum Column: Hashable, Sendable {
    /// By the name it has in the statement's result.
    case name(String)
    /// By its place, counted from zero.
    case index(Int)
}

extension Column: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Names a column.
    public init(stringLiteral name: String) { self = .name(name) }

    /// Counts a column, from zero.
    public init(integerLiteral index: Int) { self = .index(index) }
}

extension Column: CustomStringConvertible {
    /// The name, or the number.
    public var description: String {
        switch self {
        case .name(let name): name
        case .index(let index): String(index)
        }
    }
}
