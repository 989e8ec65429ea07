public import Messaging
import SQL

/// A page of a list.
public struct ListPage<Item: Sendable>: Sendable {
    /// The items in list order.
    public let items: [Item]
    /// The number of items in the whole list; `nil` if they were not counted.
    public let total: Int64?
    /// For a list of messages, the own id of their conversation, also when the request named an alias (X1.2).
    public let conversation: Conversation.ID?
    /// For a list of conversations, the own id of the last item of the previous page; `nil` for the first page.
    public let start: Conversation.ID?
    /// Whether more items are known to follow: true for a page that has fewer items than its limit because of their
    /// size. A full page may have false although items follow.
    public let isCut: Bool
    /// The id of the last item that was examined, if a search with a filter ended before it had a full page, or all.
    public let searchedTo: String?

    /// Creates a page.
    public init(
        items: [Item], total: Int64?, in conversation: Conversation.ID? = nil,
        after start: Conversation.ID? = nil, isCut: Bool = false, searchedTo: String? = nil
    ) {
        self.searchedTo = searchedTo
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
    /// Whether the items end early because of their size, so that more follow.
    var isCut = false
}

extension Transaction {
    /// Reads rows until their total weight reaches the size limit of one response.
    ///
    /// - Parameter weight: Returns the approximate size of a row in a response, in bytes.
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

/// Counts the size of the items of one response, so that a page ends before it exceeds ``bytes``.
struct ResponseBudget {
    /// The size limit of a response, 4 MiB. A single larger item is still returned.
    static let bytes: Int64 = 4 << 20

    private var left: Int64
    private var isEmpty = true

    /// - Parameter limit: Another size limit.
    init(_ limit: Int64 = bytes) { left = limit }

    /// Counts an item if it still fits, and returns whether it does; the first item always fits.
    mutating func admits(_ weight: Int64) -> Bool {
        guard isEmpty || weight <= left else { return false }
        isEmpty = false
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

/// A page of a filtered list.
struct FilteredPage<Item: Sendable> {
    var page = BoundedPage<Item>(items: [])
    /// The number of items of the whole list that pass; `nil` if they are not counted.
    var total: Int64?
    /// The last item that was examined, if the search ended early; only of a list that is not counted.
    var searchedTo: Item?
}

/// The bounds of a search that does not count: it ends after this time, or after as many items as a filter may examine.
struct SearchBounds {
    private let end = ContinuousClock.now.advanced(by: .milliseconds(50))
    private let limit: Int

    /// - Parameter limit: The maximum number of items examined.
    init(atMost limit: Int) { self.limit = limit }

    /// Whether a search may examine more items.
    func admit(_ more: Int, after checked: Int) -> Bool {
        checked + more <= limit && ContinuousClock.now < end
    }
}

extension Transaction {
    /// Reads a page of a filtered list, and counts the items of the whole list that pass, unless no number is wanted.
    ///
    /// The list is read in order from its index, 512 items at a time, and each item is checked, because no index covers
    /// the filter.
    ///
    /// - Parameters:
    ///   - start: The cursor before the first item to examine: of the whole list, or, without a number, of the page.
    ///   - last: The last item of the previous page; `nil` if the page begins at `start`.
    ///   - isCounted: Whether the items that pass are counted. If not, the search ends when the page is full, or at its
    ///     bounds.
    ///   - limit: The maximum number of items; fewer are returned when they are large.
    ///   - read: Reads the items after a cursor, at most as many as the limit.
    ///   - passes: Returns for each of the items whether it passes.
    ///   - cursor: Returns the cursor after an item; `nil` when no later item can pass.
    /// - Throws: `Rejection.tooMany` when more than `ConversationFilter.limit` items had to be checked.
    func filtered<Item: FilterableItem, Cursor>(
        from start: Cursor, after last: Item.ID?, limit: Int, isCounted: Bool,
        read: (_ cursor: Cursor, _ limit: Int) throws -> BoundedPage<Item>,
        passes: ([Item]) throws -> [Bool], cursor: (Item) throws -> Cursor?
    ) throws -> FilteredPage<Item> {
        let itemsAtOnce = 512
        let bounds = SearchBounds(atMost: ConversationFilter.limit)
        var next = start
        var isPastLast = last == nil
        var (found, budget) = (FilteredPage<Item>(), ResponseBudget())
        var (total, checked) = (Int64(0), 0)
        while true {
            let chunk = try read(next, itemsAtOnce)
            checked += chunk.items.count
            guard checked <= ConversationFilter.limit else { throw Rejection.tooMany }
            for (item, passes) in zip(chunk.items, try passes(chunk.items)) {
                if passes { total += 1 }
                if passes, isPastLast, found.page.items.count < limit {
                    found.page.isCut = found.page.isCut || !budget.admits(item.weight)
                    if !found.page.isCut { found.page.items.append(item) }
                }
                if item.id == last { isPastLast = true }
            }
            guard chunk.items.count == itemsAtOnce || chunk.isCut, let end = chunk.items.last,
                let following = try cursor(end)
            else { break }
            if !isCounted {
                guard found.page.items.count < limit, !found.page.isCut else { break }
                guard bounds.admit(itemsAtOnce, after: checked) else {
                    found.searchedTo = end
                    break
                }
            }
            next = following
        }
        if isCounted { found.total = total }
        return found
    }
}

/// A position in a list sorted by creation, newest first.
struct CreationCursor<ID> {
    let time: Timestamp
    /// The item before the position; `nil` for the position after all items of this time.
    let id: ID?

    /// Before the first item.
    static var top: CreationCursor { CreationCursor(time: Timestamp(milliseconds: .max), id: nil) }

    /// Before the first item that a filter with this upper bound can admit.
    static func start(before moment: Timestamp?) -> CreationCursor {
        moment.map { moment in CreationCursor(time: moment, id: nil) } ?? top
    }

    /// Where a search with this upper bound begins, and the item after which its page begins; without a number it begins
    /// at its page.
    static func search(
        after last: CreationCursor?, before moment: Timestamp?, isCounted: Bool
    ) -> (start: CreationCursor, last: ID?) {
        let start = start(before: moment)
        guard let last, moment.map({ moment in last.time < moment }) ?? true else {
            return (start, nil)
        }
        return isCounted ? (start, last.id) : (last, nil)
    }
}
