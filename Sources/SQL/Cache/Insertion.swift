/// An `INSERT` statement around the rows it inserts.
///
/// ```swift
/// Insertion("INSERT INTO people (id, name) VALUES", "ON CONFLICT (id) DO NOTHING")
/// ```
public struct Insertion: Hashable, Sendable {
    private let front: StatementTemplate
    private let back: StatementTemplate

    /// - Parameters:
    ///   - front: The statement up to and including `VALUES`, without values.
    ///   - back: The statement after the rows, without values.
    public init(_ front: SQL, _ back: SQL = "") {
        precondition(front.values.isEmpty && back.values.isEmpty, "values around the rows")
        self.front = front.template
        self.back = back.template
    }

    /// The statement that inserts one row.
    ///
    /// - Parameter count: The number of columns.
    func template(ofColumns count: Int) -> StatementTemplate {
        var template = front
        for index in 0..<count {
            template.append(index == 0 ? " (" : ", ")
            template.append(.value)
        }
        template.append(") ")
        template.append(back)
        return template
    }

    /// The statement that inserts rows from arrays, one for each column.
    ///
    /// - Parameter areEmpty: For each column whether no row has a value there: it has no array then.
    func template(ofArrays areEmpty: [Bool]) -> StatementTemplate {
        var count = 0
        let columns = areEmpty.map { isEmpty in
            count += isEmpty ? 0 : 1
            return isEmpty ? "NULL" : "column\(count)"
        }
        var template = front.droppingLast("VALUES")
        template.append("SELECT \(columns.joined(separator: ", ")) FROM ")
        template.append(.table(name: "added", columns: count))
        template.append(" ")
        template.append(back)
        return template
    }
}

/// The values of a row to insert, in the order of the columns: `"(\(id), \(name))"`.
///
/// Written like a statement, but only its values are kept: other text than parentheses and commas is an error of the
/// program.
public struct InsertedRow: ExpressibleByStringInterpolation, Sendable {
    let values: [SQLValue]

    /// - Parameter values: In the order of the columns.
    public init(_ values: [SQLValue]) { self.values = values }

    /// Makes a row without values.
    public init(stringLiteral text: String) { values = [] }

    /// Makes a row from its values.
    public init(stringInterpolation: StringInterpolation) { values = stringInterpolation.values }

    /// Gathers the values of an interpolated literal.
    public struct StringInterpolation: SQLValueInterpolation {
        fileprivate var values: [SQLValue] = []

        /// Reserves space for a literal of this size.
        public init(literalCapacity: Int, interpolationCount: Int) {
            values.reserveCapacity(interpolationCount)
        }

        /// Checks that the text only separates values.
        public mutating func appendLiteral(_ literal: String) {
            assert(literal.allSatisfy { "(), \n".contains($0) }, "text in a row: \(literal)")
        }

        /// Appends a value.
        public mutating func append(_ value: SQLValue) { values.append(value) }

        /// Appends the values of a part of the row.
        public mutating func appendInterpolation(_ part: InsertedRow) { values += part.values }
    }
}
