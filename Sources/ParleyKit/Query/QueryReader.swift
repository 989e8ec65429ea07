internal import SQL

/// Reads the elements of a query in one transaction.
struct QueryReader<Element: Queryable> {
    private let query: Query<Element>
    private let context: QueryContext
    /// The tables and rows of the query.
    private let selection: SQL

    /// A row that a query has found.
    struct Row: Sendable {
        let id: Element.ID
        let section: SectionKey?
    }

    /// - Throws: `invalidMetadata` for a query with an invalid path.
    init(_ query: Query<Element>, in transaction: Transaction) throws {
        self.query = query
        context = QueryContext(transaction: transaction, user: try transaction.user())
        let condition = try query.filter.predicate.sql(context)
        let conversation = try query.filter.predicate.fixedConversation.map { id in
            try transaction.currentID(of: id)
        }
        let isShown =
            if let conversation, let isShown = Element.rows.isShownInConversation {
                isShown(conversation)
            } else {
                Element.rows.isShown
            }
        selection = "FROM \(Element.rows.source) WHERE \(isShown) AND \(condition)"
        if let invalid = query.section?.invalid { throw invalid }
        for sort in query.order { if let invalid = sort.invalid { throw invalid } }
    }

    /// The number of elements.
    func count() throws -> Int {
        let transaction = context.transaction
        if let conversation = query.filter.predicate.onlyConversation,
            let count = Element.rows.countInConversation
        {
            let id = try transaction.currentID(of: conversation)
            let all = try transaction.first(count(id)) { row in try row.int("number") } ?? 0
            return min(query.limit ?? .max, max(0, all - query.offset))
        }
        let sql: SQL =
            if query.limit == nil, query.offset == 0 {
                "SELECT count(*) AS number \(selection)"
            } else {
                """
                SELECT count(*) AS number
                FROM (SELECT 1 \(selection) LIMIT \(query.limit ?? -1) OFFSET \(query.offset))
                """
            }
        return try transaction.first(sql) { row in try row.int("number") } ?? 0
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
        let sql = selectingRows(limit: limit, offset: offset, isReversed: isReversed)
        return try context.transaction.rows(sql) { row in
            Row(
                id: try Element.rows.readID(row),
                section: try query.section.map { section in section.key(try row.value("section")) })
        }
    }

    /// The statement that finds the rows.
    func selectingRows(limit: Int?, offset: Int, isReversed: Bool = false) -> SQL {
        let columns: SQL =
            if let section = query.section {
                "\(Element.rows.idColumns), \(section.expression) AS section"
            } else {
                Element.rows.idColumns
            }
        return """
            SELECT \(columns) \(selection) \(order(isReversed: isReversed))
            LIMIT \(limit ?? -1) OFFSET \(offset)
            """
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
