import SQL

/// Some items of a list in its order, as many as one answer may hold.
struct Stretch<Item: Sendable>: Sendable {
    var items: [Item]
    /// Whether it ends before its limit because it is heavy: more may follow.
    var isCut = false
}

extension Transaction {
    /// The rows that find room in one answer; what is behind them is not read.
    func stretch<Item: Sendable>(
        _ sql: SQL, weight: (borrowing Row) throws -> Int64,
        _ make: (borrowing Row) throws -> Item
    ) throws -> Stretch<Item> {
        var (budget, isCut) = (AnswerBudget(), false)
        let items = try prefix(sql) { row in
            guard budget.admits(try weight(row)) else {
                isCut = true
                return Item?.none
            }
            return try make(row)
        }
        return Stretch(items: items, isCut: isCut)
    }
}

/// How much of a list one answer shows: pages end early rather than fill the memory.
struct AnswerBudget {
    /// Bytes of one answer, about. A single item may have more and is shown all the same.
    static let bytes: Int64 = 4 << 20

    private var left = bytes
    private var isFresh = true

    /// Whether the next item still finds room; the first one always does.
    mutating func admits(_ weight: Int64) -> Bool {
        guard isFresh || weight <= left else { return false }
        isFresh = false
        left -= weight
        return true
    }
}

extension Stretch {
    /// The items that find room together.
    init(_ items: [Item], weight: (Item) -> Int64) {
        var budget = AnswerBudget()
        let fitting = items.prefix { item in budget.admits(weight(item)) }
        self.init(items: Array(fitting), isCut: fitting.count < items.count)
    }
}
