public import Messaging
import SQL

/// The key that an identity token names, as far as it is known.
public enum ProviderKeyLookup: Equatable, Sendable {
    /// There is no key with this id, in any application.
    case unknown
    /// The key was deleted.
    case deleted
    /// The key, and the application of its provider.
    case found(ProviderKey, Application.ID)
}

extension MessagingStore {
    /// Creates a provider (X14).
    ///
    /// - Throws: `Rejection.full(.provider)` above `Provider.limit`.
    public func createProvider(
        name: String, in application: Application.ID
    ) async throws -> Provider {
        let id: Provider.ID = environment.newID()
        return try await change(in: application) { context in
            let count = try context.transaction.first(
                "SELECT COUNT(*) FROM providers WHERE application = \(application)"
            ) { row in try row.int64(0) }
            guard count ?? 0 < Provider.limit else {
                throw Rejection.full(.provider, limit: Provider.limit)
            }
            let provider = Provider(id: id, name: name, createdAt: context.now)
            try context.record(.providerCreated(ProviderCreated(provider: provider)))
            return provider
        }
    }

    /// The providers of an application, oldest first, with their keys.
    public func providers(in application: Application.ID) async throws -> [Provider] {
        try await database.read { transaction in
            try transaction.providers(nil, in: application)
        }
    }

    /// A provider with its keys.
    ///
    /// - Throws: `Rejection.notFound(.provider)`.
    public func provider(_ id: Provider.ID, in application: Application.ID) async throws -> Provider
    {
        try await database.read { transaction in
            try transaction.provider(id, in: application)
        }
    }

    /// Deletes a provider and its keys; sessions that it began continue (X14).
    ///
    /// - Throws: `Rejection.notFound(.provider)`.
    public func deleteProvider(_ id: Provider.ID, in application: Application.ID) async throws {
        try await change(in: application) { context in
            _ = try context.transaction.provider(id, in: application)
            try context.record(.providerDeleted(ProviderDeleted(provider: id, at: context.now)))
        }
    }

    /// Adds a key to a provider (X14).
    ///
    /// - Throws: `Rejection.notFound(.provider)`; `Rejection.full(.providerKey)` above `ProviderKey.limit`.
    public func createProviderKey(
        _ algorithm: ProviderKey.Algorithm, der: [UInt8], of provider: Provider.ID,
        in application: Application.ID
    ) async throws -> ProviderKey {
        let id: ProviderKey.ID = environment.newID()
        return try await change(in: application) { context in
            let known = try context.transaction.provider(provider, in: application)
            guard known.keys.count < ProviderKey.limit else {
                throw Rejection.full(.providerKey, limit: ProviderKey.limit)
            }
            let key = ProviderKey(
                id: id, provider: provider, algorithm: algorithm, der: der, createdAt: context.now)
            try context.record(.providerKeyCreated(ProviderKeyCreated(key: key)))
            return key
        }
    }

    /// Disables or enables a key, also if nothing changes; sessions that it began continue (X14).
    ///
    /// - Parameter isDisabled: `nil` changes nothing.
    /// - Throws: `Rejection.notFound` of the provider or the key.
    public func updateProviderKey(
        _ id: ProviderKey.ID, isDisabled: Bool?, of provider: Provider.ID,
        in application: Application.ID
    ) async throws -> ProviderKey {
        try await change(in: application) { context in
            var key = try context.transaction.provider(provider, in: application).key(id)
            guard let isDisabled, isDisabled != key.isDisabled else { return key }
            try context.record(
                .providerKeyUpdated(ProviderKeyUpdated(key: id, isDisabled: isDisabled)))
            key.isDisabled = isDisabled
            return key
        }
    }

    /// Deletes a key; sessions that it began continue (X14).
    ///
    /// - Throws: `Rejection.notFound` of the provider or the key.
    public func deleteProviderKey(
        _ id: ProviderKey.ID, of provider: Provider.ID, in application: Application.ID
    ) async throws {
        try await change(in: application) { context in
            _ = try context.transaction.provider(provider, in: application).key(id)
            try context.record(.providerKeyDeleted(ProviderKeyDeleted(key: id, at: context.now)))
        }
    }

    /// Looks up the key that an identity token names, in all applications: the token is rejected with different
    /// diagnostics for an unknown key and for one of another application (ruling 46).
    public func providerKey(_ id: ProviderKey.ID) async throws -> ProviderKeyLookup {
        try await database.read { transaction in
            try transaction.first(
                """
                SELECT id, provider, algorithm, der, created_at, is_disabled, deleted_at, application
                FROM provider_keys WHERE id = \(id)
                """
            ) { row in
                try row.isNull(6)
                    ? .found(try ProviderKey(row), try row.id(7)) : .deleted
            } ?? .unknown
        }
    }

    /// The application of a provider; `nil` for an unknown one.
    public func application(ofProvider id: Provider.ID) async throws -> Application.ID? {
        try await database.read { transaction in
            try transaction.first("SELECT application FROM providers WHERE id = \(id)") { row in
                try row.id(0)
            }
        }
    }
}

extension Provider {
    /// - Throws: `Rejection.notFound(.providerKey)`.
    fileprivate func key(_ id: ProviderKey.ID) throws(Rejection) -> ProviderKey {
        guard let key = keys.first(where: { $0.id == id }) else { throw .notFound(.providerKey) }
        return key
    }
}

extension Transaction {
    fileprivate func provider(
        _ id: Provider.ID, in application: Application.ID
    ) throws -> Provider {
        guard let provider = try providers(id, in: application).first else {
            throw Rejection.notFound(.provider)
        }
        return provider
    }

    /// - Parameter id: `nil` for all providers.
    fileprivate func providers(
        _ id: Provider.ID?, in application: Application.ID
    ) throws -> [Provider] {
        let one: SQL = id.map { id in "AND id = \(id)" } ?? ""
        let ofOne: SQL = id.map { id in "AND provider = \(id)" } ?? ""
        let keys = try rows(
            """
            SELECT id, provider, algorithm, der, created_at, is_disabled FROM provider_keys
            WHERE application = \(application) AND deleted_at IS NULL \(ofOne)
            ORDER BY created_at, id
            """
        ) { row in try ProviderKey(row) }
        return try rows(
            """
            SELECT id, name, created_at FROM providers
            WHERE application = \(application) \(one) ORDER BY created_at, id
            """
        ) { row in
            let id: Provider.ID = try row.id(0)
            return Provider(
                id: id, name: try row.text(1), createdAt: try row.timestamp(2),
                keys: keys.filter { key in key.provider == id })
        }
    }
}

extension ProviderKey {
    /// Reads the columns `id, provider, algorithm, der, created_at, is_disabled`.
    fileprivate init(_ row: borrowing Row) throws {
        guard let algorithm = Algorithm(rawValue: try row.text(2)) else {
            throw StoreFault.unreadable("provider_keys.algorithm")
        }
        self.init(
            id: try row.id(0), provider: try row.id(1), algorithm: algorithm,
            der: try row.blob(3), createdAt: try row.timestamp(4), isDisabled: try row.bool(5))
    }
}
