internal import SQL

/// Reads the elements of a query in one transaction.
struct QueryReader<Element: Queryable> {
    private let query: Query<Element>
    private let context: QueryContext
    private let condition: SQL

    /// A row that a query has found.
    struct Row: Sendable {
        let id: Element.ID
        let section: SectionKey?
    }

    /// - Throws: `invalidMetadata` for a query with an invalid path.
    init(_ query: Query<Element>, in transaction: Transaction) throws {
        self.query = query
        context = QueryContext(transaction: transaction, user: try transaction.user())
        condition = try query.filter.predicate.sql(context)
        if let invalid = query.section?.invalid { throw invalid }
        for sort in query.order { if let invalid = sort.invalid { throw invalid } }
    }

    /// The number of elements.
    func count() throws -> Int {
        let all: SQL = "\(Element.rows.shown) AND \(condition)"
        let sql: SQL =
            if query.limit == nil, query.offset == 0 {
                "SELECT count(*) AS number \(all)"
            } else {
                """
                SELECT count(*) AS number
                FROM (SELECT 1 \(all) LIMIT \(query.limit ?? -1) OFFSET \(query.offset))
                """
            }
        return try context.transaction.first(sql) { row in try row.int("number") } ?? 0
    }

    /// All elements, in order.
    func rows() throws -> [Row] { try rows(limit: query.limit, offset: query.offset) }

    /// The first elements, in order.
    func first(_ count: Int) throws -> [Row] {
        try rows(limit: min(max(0, count), query.limit ?? .max), offset: query.offset)
    }

    /// The last elements, in order.
    func last(_ count: Int) throws -> [Row] {
        let count = max(0, count)
        if query.limit == nil, query.offset == 0 {
            return try rows(limit: count, offset: 0, isReversed: true).reversed()
        }
        let before = max(0, try self.count() - count)
        return try rows(
            limit: query.limit.map { limit in limit - before }, offset: query.offset + before)
    }

    /// The elements of rows; those that no longer exist are left out.
    func elements(_ rows: [Row], _ activity: OutboxActivity) throws -> [Element] {
        var reader = ObjectReader(context.transaction, of: context.user, activity)
        return try Element.rows.read(&reader, rows.map(\.id))
    }

    private func rows(limit: Int?, offset: Int, isReversed: Bool = false) throws -> [Row] {
        let columns: SQL =
            if let section = query.section {
                "\(Element.rows.idColumns), \(section.expression) AS section"
            } else {
                Element.rows.idColumns
            }
        let sql: SQL = """
            SELECT \(columns) \(Element.rows.shown) AND \(condition)
            \(order(isReversed: isReversed)) LIMIT \(limit ?? -1) OFFSET \(offset)
            """
        return try context.transaction.rows(sql) { row in
            Row(
                id: try Element.rows.readID(row),
                section: try query.section.map { section in section.key(try row.value("section")) })
        }
    }

    private func order(isReversed: Bool) -> SQL {
        var terms = query.order.map { sort in
            (expression: sort.expression, isDescending: sort.isDescending != isReversed)
        }
        let isTotal =
            query.filter.predicate.fixedConversation != nil
            && query.order.contains(where: \.isUniqueInConversation)
        if !isTotal {
            // In the direction of the last term, so that an index that ends with the id gives the order alone.
            let isDescending = terms.last?.isDescending ?? isReversed
            terms += Element.rows.tieBreaks.map { column in (column, isDescending) }
        }
        return terms.enumerated().reduce("ORDER BY ") { order, term in
            let (index, (expression, isDescending)) = term
            let separator: SQL = index > 0 ? ", " : ""
            let direction: SQL = isDescending ? " DESC" : " ASC"
            return "\(order)\(separator)\(expression)\(direction)"
        }
    }
}

extension Transaction {
    /// The user of the store; empty before the first session.
    fileprivate func user() throws -> UserID {
        let user = try first("SELECT value FROM settings WHERE name = 'user'") { row in
            try row.text("value")
        }
        return UserID(user ?? "")
    }
}
