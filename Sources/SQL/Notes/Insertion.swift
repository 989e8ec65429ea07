/// A statement that adds rows, each with its values in brackets between the two ends.
///
/// ```swift
/// Insertion("INSERT INTO people (id, name) VALUES", "ON CONFLICT (id) DO NOTHING")
/// ```
public struct Insertion: Equatable, Sendable {
    private let front: SQL
    private let back: SQL

    /// - Parameters:
    ///   - front: Up to `VALUES`.
    ///   - back: What stands behind the rows.
    public init(_ front: SQL, _ back: SQL = "") {
        self.front = front
        self.back = back
    }

    func sql(adding rows: ArraySlice<SQL>) -> SQL {
        var text = SQL.StringInterpolation(
            literalCapacity: 0, interpolationCount: rows.reduce(2) { $0 + $1.values.count })
        text.appendInterpolation(front)
        for (number, row) in rows.enumerated() {
            text.appendLiteral(number == 0 ? " " : ", ")
            text.appendInterpolation(row)
        }
        text.appendLiteral(" ")
        text.appendInterpolation(back)
        return SQL(stringInterpolation: text)
    }
}
