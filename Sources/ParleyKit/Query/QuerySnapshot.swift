internal import JSON
internal import Messaging
internal import MessagingWire
internal import SQL

/// What a query finds within a window at one time.
struct QuerySnapshot<Element: Queryable>: Sendable {
    /// The elements, with the keys of their sections.
    let sections: [ResultSection<Element>]
    /// The ids of the elements, in the order of the query.
    let ids: [Element.ID]
    /// The number of elements of the query.
    let total: Int
    /// How many elements the window takes now; `nil` for all.
    let size: Int?
    /// The conversation that all elements have, if the query requires one.
    let conversation: Conversation.ID?
    /// The positions inside the window whose messages are not on this device.
    let missing: IntervalSet

    /// Reads a query.
    ///
    /// - Parameter before: The last snapshot of the same query; what has arrived behind its elements widens
    ///   ``Window/last(_:)``.
    init(
        _ query: Query<Element>, _ window: Window, after before: QuerySnapshot?,
        in transaction: Transaction, _ activity: OutboxActivity
    ) throws {
        let reader = try QueryReader(query, in: transaction)
        let rows: [QueryReader<Element>.Row]
        switch window {
        case .all: (rows, size) = (try reader.rows(), nil)
        case .first(let count): (rows, size) = (try reader.first(count), count)
        case .last(let count):
            let size = before?.size ?? count
            (rows, self.size) = try Self.last(size, behind: before?.ids ?? [], of: reader)
        }
        ids = rows.map(\.id)
        // A window that is not full has all elements.
        total = rows.count < size ?? .max ? rows.count : try reader.count()
        let elements = try reader.elements(rows, activity)
        let keys = Dictionary(rows.map { row in (row.id, row.section) }) { first, _ in first }
        sections = ResultSection.sections(
            of: elements.map { element in (keys[element.id] ?? nil, element) })
        conversation = try query.filter.predicate.fixedConversation.map { id in
            try transaction.currentID(of: id)
        }
        missing =
            if let position = Element.rows.position, let conversation {
                try transaction.missingPositions(
                    of: conversation, in: query, window,
                    remaining: max(0, min(size ?? .max, query.limit ?? .max) - elements.count),
                    elements.compactMap(position))
            } else {
                IntervalSet()
            }
    }

    /// The last rows of a query, and further ones as many as have arrived behind those that were shown.
    private static func last(
        _ size: Int, behind shown: [Element.ID], of reader: QueryReader<Element>
    ) throws -> (rows: [QueryReader<Element>.Row], size: Int) {
        let known = Set(shown)
        var count = size
        while true {
            let rows = try reader.last(count)
            guard let last = rows.lastIndex(where: { row in known.contains(row.id) }) else {
                // More have arrived than were read, or none of those that were shown is left.
                let hasMore = rows.count == count && !known.isEmpty && count > 0
                guard hasMore else { return (rows.suffix(max(0, size)), size) }
                count *= 2
                continue
            }
            let widened = max(size, shown.count + rows.count - 1 - last)
            guard widened > count else { return (rows.suffix(widened), widened) }
            return (try reader.last(widened), widened)
        }
    }
}

extension Transaction {
    /// The positions inside a window of a conversation whose messages are not on this device.
    ///
    /// - Parameters:
    ///   - remaining: How many more elements the window takes; beyond its elements it misses so many positions at most.
    ///   - positions: Those of the elements in the window.
    fileprivate func missingPositions<Element>(
        of conversation: Conversation.ID, in query: Query<Element>, _ window: Window,
        remaining: Int,
        _ positions: [Int64]
    ) throws -> IntervalSet {
        let row = try first(
            "SELECT held, base FROM conversations WHERE id = \(conversation.bytes)"
        ) { row in (held: try row.text("held"), base: try row.optionalBlob("base")) }
        guard let row, let held = IntervalSet(text: row.held), let base = row.base,
            let document = try? JSONDocument(base),
            let feed = ConversationJSON.readFeed(document.root)?.feedMembers,
            feed.top > feed.clearedTo
        else { return IntervalSet() }
        let missing = IntervalSet(feed.clearedTo.number + 1...feed.top.number).subtracting(held)
        guard let order = query.order.first, order.isUniqueInConversation else { return missing }
        // Whether the window ends before the lowest or before the highest position.
        var (isCutBelow, isCutAbove) = (false, query.limit != nil)
        switch window {
        case .all: break
        case .first: isCutAbove = true
        case .last: isCutBelow = true
        }
        if order.isDescending { swap(&isCutBelow, &isCutAbove) }
        let lowest = positions.min() ?? (isCutBelow ? feed.top.number + 1 : 1)
        let highest = max(lowest - 1, positions.max() ?? 0)
        let (below, rest) = missing.divided(before: lowest)
        let (inside, above) = rest.divided(before: highest + 1)
        return inside.union(isCutBelow ? below.highest(Int64(remaining)) : below)
            .union(isCutAbove ? above.lowest(Int64(remaining)) : above)
    }
}

extension IntervalSet {
    /// The numbers before a number, and the others.
    fileprivate func divided(before number: Int64) -> (IntervalSet, IntervalSet) {
        guard number > 1 else { return (IntervalSet(), self) }
        let before = intersection(IntervalSet(1...(number - 1)))
        return (before, subtracting(before))
    }

    /// The lowest numbers, so many at most.
    fileprivate func lowest(_ count: Int64) -> IntervalSet {
        var rest = count
        var found: [ClosedRange<Int64>] = []
        for interval in intervals where rest > 0 {
            let size = min(rest, interval.upperBound - interval.lowerBound + 1)
            found.append(interval.lowerBound...(interval.lowerBound + size - 1))
            rest -= size
        }
        return IntervalSet(found)
    }

    /// The highest numbers, so many at most.
    fileprivate func highest(_ count: Int64) -> IntervalSet {
        let others = self.count - count
        return others > 0 ? subtracting(lowest(others)) : self
    }
}
