/// The text of a statement as the string literals it is written in, without its values.
///
/// A line of source code yields the same literal objects each time, which are compared by identity. A prepared
/// statement is therefore found without building or hashing its text, which took a sixth of the time of a send.
package struct StatementTemplate: Hashable, Sendable {
    private(set) var pieces: [Piece] = []
    private(set) var hasArrays = false
    private var hash = 0

    /// A part of a statement.
    enum Piece: Hashable, Sendable {
        case text(String)
        case value
        /// The test that a value is in an array.
        case isIn
        /// The test that a value is not in an array.
        case isNotIn
        /// A table with arrays as its columns.
        case table(name: String, columns: Int)
        /// Values in parentheses.
        case list(count: Int)
        /// A table of rows of values.
        case rows(name: String, columns: Int, count: Int)
    }

    init(_ text: String) { append(text) }

    mutating func reserve(_ count: Int) { pieces.reserveCapacity(count) }

    mutating func append(_ literal: String) {
        guard !literal.isEmpty else { return }
        append(.text(literal))
    }

    mutating func append(_ piece: Piece) {
        pieces.append(piece)
        hash = hash &* 31
        switch piece {
        case .text(let text): hash = hash &+ text.utf8.count
        case .value: break
        case .isIn, .isNotIn, .table: hasArrays = true
        case .list(let count), .rows(_, _, let count): hash = hash &+ count
        }
    }

    mutating func append(_ part: StatementTemplate) {
        for piece in part.pieces { append(piece) }
    }

    /// The template without the word at its end.
    func droppingLast(_ word: String) -> StatementTemplate {
        guard case .text(let text)? = pieces.last, text.hasSuffix(word) else {
            preconditionFailure("no \(word) at the end")
        }
        var rest = StatementTemplate("")
        for piece in pieces.dropLast() { rest.append(piece) }
        rest.append(String(text.dropLast(word.count)))
        return rest
    }

    /// Whether it begins with `SELECT`, and so writes no row.
    var isSelect: Bool {
        if case .text(let text)? = pieces.first { text.hasPrefix("SELECT") } else { false }
    }

    /// Whether it names a table; text with the name inside a longer one, such as that of a column, does not.
    func names(_ table: String) -> Bool {
        let name = Array(table.utf8)
        return pieces.contains { piece in
            guard case .text(let text) = piece else { return false }
            return text.utf8.split { byte in !byte.isInName }.contains { $0.elementsEqual(name) }
        }
    }

    /// The text with `$1`, `$2` … in place of values; an array is one value, as PostgreSQL accepts it.
    package var text: String {
        var number = 0
        func next() -> String {
            number += 1
            return "$\(number)"
        }
        func list(of count: Int) -> String {
            "(\((0..<count).map { _ in next() }.joined(separator: ", ")))"
        }
        return pieces.reduce(into: "") { text, piece in
            switch piece {
            case .text(let literal): text += literal
            case .value: text += next()
            case .isIn: text += "= ANY(\(next()))"
            case .isNotIn: text += "<> ALL(\(next()))"
            case .table(let name, let columns):
                let arrays = (0..<columns).map { _ in next() }.joined(separator: ", ")
                let names = (1...columns).map { "column\($0)" }.joined(separator: ", ")
                text += "unnest(\(arrays)) AS \(name)(\(names))"
            case .list(let count): text += list(of: count)
            case .rows(let name, let columns, let count):
                let rows = (0..<count).map { _ in list(of: columns) }.joined(separator: ", ")
                text += "(VALUES \(rows)) AS \(name)"
            }
        }
    }

    package static func == (left: StatementTemplate, right: StatementTemplate) -> Bool {
        left.hash == right.hash && left.pieces == right.pieces
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension UInt8 {
    /// Whether it may be part of the name of a table or column.
    fileprivate var isInName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
