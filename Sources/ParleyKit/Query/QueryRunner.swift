internal import Messaging

/// Answers the queries of a client from its store.
struct QueryRunner: Sendable {
    private let store: Store
    private let activity: OutboxActivity
    private let loadMissing: @Sendable (Conversation.ID, IntervalSet) -> Void

    /// - Parameter loadMissing: Called, from any task, when a live query holds a window in which messages of a
    ///   conversation are missing (K13), with their positions. It starts to load them, and returns at once.
    init(
        _ store: Store, _ activity: OutboxActivity,
        loadMissing: @escaping @Sendable (Conversation.ID, IntervalSet) -> Void
    ) {
        self.store = store
        self.activity = activity
        self.loadMissing = loadMissing
    }

    /// The elements of a query, in order.
    func fetch<Element>(_ query: Query<Element>) async throws(ParleyError) -> [Element] {
        try await store.read { [activity] transaction in
            let reader = try QueryReader(query, in: transaction)
            return try reader.elements(try reader.rows(), activity)
        }
    }

    /// The ids of the elements of a query, in order.
    func ids<Element>(_ query: Query<Element>) async throws(ParleyError) -> [Element.ID] {
        try await store.read { transaction in
            try QueryReader(query, in: transaction).rows().map(\.id)
        }
    }

    /// The number of elements of a query.
    func count<Element>(_ query: Query<Element>) async throws(ParleyError) -> Int {
        try await store.read { transaction in try QueryReader(query, in: transaction).count() }
    }

    /// The elements of a query, now and after each change.
    ///
    /// - Parameter shown: What the reader shows already; the changes of the first set lead from it.
    func results<Element>(
        _ query: Query<Element>, window: Window, updating properties: Set<String>?,
        after shown: ResultSet<Element> = ResultSet()
    ) -> QueryResults<Element> {
        QueryResults(
            query: query, window: window, properties: properties, shown: shown, store: store,
            activity: activity, loadMissing: loadMissing)
    }
}
