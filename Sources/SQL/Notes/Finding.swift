/// The answer to what was asked ahead (``Transaction/ask(_:as:_:)``).
///
/// It says what was true when it was asked, whatever was changed since.
public final class Finding<Value> {
    private let connection: (any Connection)?
    private var outcome: Result<[Value], any Error>?

    init(on connection: any Connection) { self.connection = connection }

    /// One that is known.
    init(_ value: Value) {
        connection = nil
        outcome = .success([value])
    }

    /// A value of each row.
    ///
    /// - Throws: What making one threw, or what has gone wrong before; nothing of the change is then kept.
    public func rows() throws -> [Value] {
        if outcome == nil { try connection?.settle() }
        guard let outcome else { throw SQLError.transactionLost }
        return try outcome.get()
    }

    /// A value of the first row; `nil` when there is none.
    public func first() throws -> Value? { try rows().first }

    /// Makes the values of rows that have come.
    func take(_ rows: any Rows, _ make: (borrowing Row) throws -> Value) {
        outcome = Result {
            var values: [Value] = []
            while try rows.next() { values.append(try make(Row(rows: rows))) }
            return values
        }
    }
}
