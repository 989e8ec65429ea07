public import Messaging
import SQL

/// One page of a list.
public struct ListPage<Item: Sendable>: Sendable {
    /// The items in list order.
    public let items: [Item]
    /// How many the whole list has.
    public let total: Int64
    /// The conversation whose messages these are: its own id, should an alias have been asked for
    /// (X1.2); `nil` for other lists.
    public let conversation: Conversation.ID?
    /// The conversation behind which a list of conversations starts here: its own id as well; `nil` from the
    /// first one on.
    public let start: Conversation.ID?
    /// Whether it ends before its limit because its items are large; more follow the last one.
    public let isCut: Bool

    /// A page.
    public init(
        items: [Item], total: Int64, in conversation: Conversation.ID? = nil,
        behind start: Conversation.ID? = nil, isCut: Bool = false
    ) {
        self.isCut = isCut
        self.items = items
        self.total = total
        self.conversation = conversation
        self.start = start
    }
}

/// Some items of a list in its order, as many as one answer may hold.
struct BoundedPage<Item: Sendable>: Sendable {
    var items: [Item]
    /// Whether it ends before its limit because it is heavy: more may follow.
    var isCut = false
}

extension Transaction {
    /// The rows that find room in one answer; what is behind them is not read.
    func stretch<Item: Sendable>(
        _ sql: SQL, weight: (borrowing Row) throws -> Int64,
        _ make: (borrowing Row) throws -> Item
    ) throws -> BoundedPage<Item> {
        var (budget, isCut) = (ResponseBudget(), false)
        let items = try prefix(sql) { row in
            guard budget.admits(try weight(row)) else {
                isCut = true
                return Item?.none
            }
            return try make(row)
        }
        return BoundedPage(items: items, isCut: isCut)
    }
}

/// How much of a list one answer shows: pages end early rather than fill the memory.
struct ResponseBudget {
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

extension BoundedPage {
    /// The items that find room together.
    init(_ items: [Item], weight: (Item) -> Int64) {
        var budget = ResponseBudget()
        let fitting = items.prefix { item in budget.admits(weight(item)) }
        self.init(items: Array(fitting), isCut: fitting.count < items.count)
    }
}

/// An item of a list that a filter is applied to.
protocol FilterableItem: Identifiable, Sendable {
    /// Bytes an answer that shows it holds, about.
    var weight: Int64 { get }
}

extension Transaction {
    /// The items of a list behind one that pass a filter, and how many of the whole list pass.
    ///
    /// The list is read in its order from its index, piece by piece, and each item is checked, because no
    /// index knows what a filter asks for.
    ///
    /// - Parameters:
    ///   - start: Where the list begins.
    ///   - last: The item before the page; `nil` when all items are behind it.
    ///   - limit: Most items of the page, which has fewer when they are large.
    ///   - read: The items behind a place, as many as the limit at most.
    ///   - passes: Whether each of some items passes.
    ///   - place: Where to read on behind an item; `nil` when nothing behind it can pass.
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` items had to be checked.
    func filtered<Item: FilterableItem, Place>(
        from start: Place, after last: Item.ID?, limit: Int,
        read: (_ place: Place, _ limit: Int) throws -> BoundedPage<Item>,
        passes: ([Item]) throws -> [Bool], place: (Item) throws -> Place?
    ) throws -> (stretch: BoundedPage<Item>, total: Int64) {
        let itemsAtOnce = 512
        var next = start
        var isBehind = last == nil
        var (found, budget) = (BoundedPage<Item>(items: []), ResponseBudget())
        var (total, checked) = (Int64(0), 0)
        while true {
            let piece = try read(next, itemsAtOnce)
            checked += piece.items.count
            guard checked <= ConversationFilter.limit else { throw Rejection.tooMany }
            for (item, passes) in zip(piece.items, try passes(piece.items)) {
                if passes { total += 1 }
                if passes, isBehind, found.items.count < limit {
                    found.isCut = found.isCut || !budget.admits(item.weight)
                    if !found.isCut { found.items.append(item) }
                }
                if item.id == last { isBehind = true }
            }
            guard piece.items.count == itemsAtOnce || piece.isCut, let end = piece.items.last,
                let behind = try place(end)
            else { return (found, total) }
            next = behind
        }
    }
}

/// Where an item stands in a list that is sorted by creation, newest first.
struct CreationCursor<ID> {
    let time: Timestamp
    /// `nil` stands behind every item created later and before all others.
    let id: ID?

    /// Before all items.
    static var top: CreationCursor { CreationCursor(time: Timestamp(milliseconds: .max), id: nil) }

    /// Before the items of a filter's period.
    static func start(before moment: Timestamp?) -> CreationCursor {
        moment.map { moment in CreationCursor(time: moment, id: nil) } ?? top
    }

    /// The same item as one of the list, unless the period of a filter ends before it.
    func item(before moment: Timestamp?) -> ID? {
        if let moment, time >= moment { nil } else { id }
    }
}
