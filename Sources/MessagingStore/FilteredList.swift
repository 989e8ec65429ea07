import Messaging
import SQL

/// An item of a list that a filter is applied to.
protocol FilteredItem: Identifiable, Sendable {
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
    func filtered<Item: FilteredItem, Place>(
        from start: Place, after last: Item.ID?, limit: Int,
        read: (_ place: Place, _ limit: Int) throws -> Stretch<Item>,
        passes: ([Item]) throws -> [Bool], place: (Item) throws -> Place?
    ) throws -> (stretch: Stretch<Item>, total: Int64) {
        let itemsAtOnce = 512
        var next = start
        var isBehind = last == nil
        var (found, budget) = (Stretch<Item>(items: []), AnswerBudget())
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
struct CreationPlace<ID> {
    let time: Timestamp
    /// `nil` stands behind every item created later and before all others.
    let id: ID?

    /// Before all items.
    static var top: CreationPlace { CreationPlace(time: Timestamp(milliseconds: .max), id: nil) }

    /// Before the items of a filter's period.
    static func start(before moment: Timestamp?) -> CreationPlace {
        moment.map { moment in CreationPlace(time: moment, id: nil) } ?? top
    }

    /// The same item as one of the list, unless the period of a filter ends before it.
    func item(before moment: Timestamp?) -> ID? {
        if let moment, time >= moment { nil } else { id }
    }
}
