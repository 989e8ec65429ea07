internal import SQL

/// What to find, in which order.
///
/// ```swift
/// Query<Message>(
///     where: { $0.conversation == id }, sort: { [$0.sentAt.descending] },
///     sections: { .day($0.sentAt, .current) })
/// ```
public struct Query<Element: Queryable>: Sendable {
    let filter: Filter<Element>
    let order: [Sort<Element>]
    let section: Section<Element>?
    let limit: Int?
    let offset: Int

    /// A query.
    ///
    /// - Parameters:
    ///   - filter: Which elements to find; by default all.
    ///   - sort: The order: by the first of them, equal elements by the next one. By default conversations with the
    ///     newest message come first, messages and parts are in the order of sending with unsent ones last, and
    ///     identities are in the order of their display names.
    ///   - sections: Into which sections ``ParleyClient/results(_:window:updating:)`` divides them; by default one.
    ///   - limit: How many elements to find at most; `nil` for all. A negative number is read as 0.
    ///   - offset: How many elements to leave out at the start. A negative number is read as 0.
    public init(
        where filter: (Element.Columns) -> Filter<Element> = { _ in .everything },
        sort: (Element.Columns) -> [Sort<Element>] = Element.naturalOrder,
        sections: ((Element.Columns) -> Section<Element>)? = nil,
        limit: Int? = nil, offset: Int = 0
    ) {
        self.filter = filter(Element.columns)
        order = sort(Element.columns)
        section = sections?(Element.columns)
        self.limit = limit.map { limit in max(0, limit) }
        self.offset = max(0, offset)
    }
}

/// A part of the order of a query; made by ``Column/ascending`` and ``Column/descending``.
public struct Sort<Element: Queryable>: Sendable {
    let expression: SQL
    let isDescending: Bool
    /// Whether no two rows of a conversation are equal in it, so that an index gives the order alone.
    var isUniqueInConversation = false
    var invalid: ParleyError?
}

/// Which of the elements a live query holds; its total counts all of them.
public enum Window: Hashable, Sendable {
    /// All elements. Each change reads all of them again, so use another window for long lists.
    case all
    /// The first elements.
    case first(Int)
    /// The last elements. Elements that arrive at the end are held in addition.
    case last(Int)
}
