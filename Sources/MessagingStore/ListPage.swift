public import Messaging
import SQL

/// A page of a list.
public struct ListPage<Item: Sendable>: Sendable {
    /// The items in list order.
    public let items: [Item]
    /// The number of items in the whole list.
    public let total: Int64
    /// The own id of the conversation whose messages these are, also when an alias was given (X1.2); `nil` for
    /// other lists.
    public let conversation: Conversation.ID?
    /// The own id of the conversation after which this page of a conversation list starts; `nil` for the first
    /// page.
    public let start: Conversation.ID?
    /// Whether more items follow, although the page has at most as many as its limit.
    public let isCut: Bool

    /// Creates a page.
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

/// Consecutive items of a list, at most as many as fit into one response.
struct BoundedPage<Item: Sendable>: Sendable {
    var items: [Item]
    /// Whether more items may follow because these reached the size limit.
    var isCut = false
}

extension Transaction {
    /// Reads rows until their total weight reaches the limit of one response.
    func boundedPage<Item: Sendable>(
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

/// The size limit of one response: a page ends early rather than exceed it.
struct ResponseBudget {
    /// The approximate number of bytes. A single larger item is still returned.
    static let bytes: Int64 = 4 << 20

    private var left = bytes
    private var isFresh = true

    /// Whether the next item still fits; the first item always does.
    mutating func admits(_ weight: Int64) -> Bool {
        guard isFresh || weight <= left else { return false }
        isFresh = false
        left -= weight
        return true
    }
}

extension BoundedPage {
    /// The first items that fit into one response.
    init(_ items: [Item], weight: (Item) -> Int64) {
        var budget = ResponseBudget()
        let fitting = items.prefix { item in budget.admits(weight(item)) }
        self.init(items: Array(fitting), isCut: fitting.count < items.count)
    }
}

/// An item of a list that can be filtered.
protocol FilterableItem: Identifiable, Sendable {
    /// The approximate size in a response, in bytes.
    var weight: Int64 { get }
}

extension Transaction {
    /// Reads a page of a filtered list, and counts the items of the whole list that pass.
    ///
    /// The list is read in order from its index, chunk by chunk, and each item is checked, because no index
    /// covers the filter.
    ///
    /// - Parameters:
    ///   - start: The cursor before the first item.
    ///   - last: The last item of the previous page; `nil` for the first page.
    ///   - limit: The maximum number of items; fewer are returned when they are large.
    ///   - read: Reads the items after a cursor, at most as many as the limit.
    ///   - passes: Returns for each of the items whether it passes.
    ///   - place: The cursor after an item; `nil` when no later item can pass.
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` items had to be checked.
    func filtered<Item: FilterableItem, Place>(
        from start: Place, after last: Item.ID?, limit: Int,
        read: (_ place: Place, _ limit: Int) throws -> BoundedPage<Item>,
        passes: ([Item]) throws -> [Bool], place: (Item) throws -> Place?
    ) throws -> (page: BoundedPage<Item>, total: Int64) {
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

/// A position in a list sorted by creation, newest first.
struct CreationCursor<ID> {
    let time: Timestamp
    /// `nil` is a position after all later items and before all items of this time.
    let id: ID?

    /// Before the first item.
    static var top: CreationCursor { CreationCursor(time: Timestamp(milliseconds: .max), id: nil) }

    /// Before the first item that a filter with this upper bound can admit.
    static func start(before moment: Timestamp?) -> CreationCursor {
        moment.map { moment in CreationCursor(time: moment, id: nil) } ?? top
    }

    /// The id, or `nil` if the item is newer than the upper bound of a filter.
    func item(before moment: Timestamp?) -> ID? {
        if let moment, time >= moment { nil } else { id }
    }
}
