/// Values of one type that are bound together: a list of keys, or a column of a table.
///
/// PostgreSQL takes them as one parameter. Its planner counts a list of 128 parameters as 128 guesses added up, and
/// without statistics prefers to read the whole application; of one array it guesses little and takes the index of
/// the key. SQLite has no arrays, and takes one parameter for each value.
public enum SQLArray: Hashable, Sendable {
    /// `BIGINT[]`.
    case integers([Int64])
    /// `TEXT[]`.
    case texts([String])
    /// `BYTEA[]`.
    case blobs([[UInt8]])
    /// Values of one of these types, of which some may be `NULL`, but not all.
    case values([SQLValue])

    /// The number of values.
    package var count: Int {
        switch self {
        case .integers(let values): values.count
        case .texts(let values): values.count
        case .blobs(let values): values.count
        case .values(let values): values.count
        }
    }

    /// The value at an index.
    package subscript(index: Int) -> SQLValue {
        switch self {
        case .integers(let values): .integer(values[index])
        case .texts(let values): .text(values[index])
        case .blobs(let values): .blob(values[index])
        case .values(let values): values[index]
        }
    }
}

extension SQL {
    /// The statement with one parameter for each value of an array.
    ///
    /// A list is padded to a power of two by repeating its last value: the number of different texts stays small,
    /// so prepared statements are reused.
    func spreadingArrays() -> SQL {
        guard template.hasArrays else { return self }
        var spread = SQL(stringLiteral: "")
        var rest = values[...]
        for piece in template.pieces {
            switch piece {
            case .text(let text): spread.template.append(text)
            case .value: spread.appendValue(rest.removeFirst())
            case .isIn:
                spread.template.append("IN ")
                spread.appendList(rest.removeFirst())
            case .isNotIn:
                spread.template.append("NOT IN ")
                spread.appendList(rest.removeFirst())
            case .table(let name, let columns):
                spread.appendTable(rest.prefix(columns), named: name)
                rest.removeFirst(columns)
            // Only spreading makes these.
            case .list, .rows: break
            }
        }
        return spread
    }

    private mutating func appendValue(_ value: SQLValue) {
        values.append(value)
        template.append(.value)
    }

    private mutating func appendList(_ value: SQLValue) {
        guard case .array(let list) = value else { return }
        var length = list.count > 0 ? 1 : 0
        while length < list.count { length *= 2 }
        for index in 0..<length { values.append(list[min(index, list.count - 1)]) }
        template.append(.list(count: length))
    }

    private mutating func appendTable(_ columns: ArraySlice<SQLValue>, named name: String) {
        let columns = columns.compactMap { value in
            if case .array(let column) = value { column } else { nil }
        }
        let count = columns.first?.count ?? 0
        for row in 0..<count {
            for column in columns { values.append(column[row]) }
        }
        template.append(.rows(name: name, columns: columns.count, count: count))
    }
}

extension Array {
    /// Splits the elements into chunks of at most `size`, for statements with one parameter for each element.
    public func chunks(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { start in
            Array(self[start..<Swift.min(start + size, count)])
        }
    }

    /// Splits the elements into chunks whose lengths are powers of two, for statements with one row for each element.
    ///
    /// Only a few lengths occur, so there are few statement texts, and their prepared statements are reused.
    ///
    /// - Parameter most: The maximum length of a chunk; a power of two.
    public func powerOfTwoChunks(upTo most: Int) -> [[Element]] {
        var chunks: [[Element]] = []
        var (start, size) = (0, most)
        while start < count {
            while size > count - start { size /= 2 }
            chunks.append(Array(self[start..<start + size]))
            start += size
        }
        return chunks
    }
}
