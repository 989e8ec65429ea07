/// Names what may be known of a row: in which tables it stands, and what tells it from others there.
///
/// ```swift
/// let person = Fact<Person>(of: id.bytes, in: "people")
/// ```
public struct Fact<Value>: Sendable {
    let rows: [RowKey]
    private let aspect: [UInt8]

    /// - Parameters:
    ///   - key: What tells the row from others, the same in all tables.
    ///   - tables: Every table that has a say, as statements name them.
    ///   - aspect: What tells this from other things known of the row.
    public init(of key: [UInt8], in tables: String..., aspect: [UInt8] = []) {
        rows = tables.map { table in RowKey(table: table, key: key) }
        self.aspect = aspect
    }

    var name: FactName { FactName(row: rows[0], aspect: aspect) }
}

/// A row of a table.
struct RowKey: Hashable {
    let table: String
    let key: [UInt8]
}

/// What a fact is found by.
struct FactName: Hashable {
    let row: RowKey
    let aspect: [UInt8]
}
