import SQL

/// The way of the store's functions to the database.
struct Access: Sendable {
    private enum Way: Sendable {
        /// Each read and each change is a transaction of its own.
        case shared(Database)
        /// All of them are part of one.
        case lent(Sitting)
    }

    private let way: Way
    /// Asked before anything else is, for a request with a key.
    private let watch: KeyWatch?

    /// Everybody's way.
    init(_ database: Database) { self.init(.shared(database), nil) }

    private init(_ way: Way, _ watch: KeyWatch?) {
        self.way = way
        self.watch = watch
    }

    /// The same way for a request with a key.
    func watched(by watch: KeyWatch) -> Access { Access(way, watch) }

    /// The way inside a transaction that runs.
    static func within(_ sitting: Sitting, watchedBy watch: KeyWatch) -> Access {
        Access(.lent(sitting), watch)
    }

    /// See `Database.read`.
    nonisolated(nonsending) func read<Value: Sendable>(
        _ look: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        switch way {
        case .shared(let database): try await database.read(watched(look))
        case .lent(let sitting): try sitting.run(watched(look))
        }
    }

    /// See `Database.write`.
    nonisolated(nonsending) func write<Value: Sendable>(
        prefetching prefetch: (@Sendable (Transaction) throws -> Void)? = nil,
        _ change: @escaping @Sendable (Transaction) throws -> Value
    ) async throws -> Value {
        switch way {
        case .shared(let database):
            try await database.write(prefetching: prefetch, watched(change))
        case .lent(let sitting): try sitting.run(watched(change))
        }
    }

    /// See `Database.isShared`.
    var isShared: Bool {
        switch way {
        case .shared(let database): database.isShared
        // Whoever lent it knows.
        case .lent: false
        }
    }

    /// See `Database.listen`.
    func listen(_ hear: @escaping @Sendable (ChangeNotification) -> Void) {
        switch way {
        case .shared(let database): database.listen(hear)
        // Nobody listens in the midst of a change.
        case .lent: break
        }
    }

    private func watched<Value>(
        _ body: @escaping @Sendable (Transaction) throws -> Value
    ) -> @Sendable (Transaction) throws -> Value {
        guard let watch else { return body }
        return { transaction in
            try watch.check(transaction)
            return try body(transaction)
        }
    }
}
