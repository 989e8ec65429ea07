import SQL
import SystemSupport

// Secrets that all processes of a database share.
extension MessagingStore {
    /// Returns a secret, and stores a new one when there is none yet.
    ///
    /// - Parameter new: Makes the new secret. When several processes call this at the same time, the secret of one of
    ///   them is stored, and all receive it.
    public func secret(
        _ name: String, orStore new: @escaping @Sendable () throws -> [UInt8]
    ) async throws -> [UInt8] {
        if let secret = try await secret(name) { return secret }
        return try await database.write { transaction in
            if let secret = try transaction.secret(name) { return secret }
            let secret = try new()
            try transaction.execute("INSERT INTO secrets (name, value) VALUES (\(name), \(secret))")
            return secret
        }
    }

    /// Returns a secret; `nil` when there is none yet.
    public func secret(_ name: String) async throws -> [UInt8]? {
        try await database.read { transaction in try transaction.secret(name) }
    }

    /// Replaces a secret by one that is derived from it, in one transaction.
    ///
    /// - Returns: The new secret; `nil` when there is none yet.
    public func replaceSecret(
        _ name: String, by next: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) async throws -> [UInt8]? {
        try await database.write { transaction in
            guard let secret = try transaction.secret(name) else { return nil }
            let new = try next(secret)
            try transaction.execute("UPDATE secrets SET value = \(new) WHERE name = \(name)")
            return new
        }
    }
}

/// A random secret of the database that a process reads once.
final class SharedSecret: Sendable {
    private let name: String
    private let size: Int
    private let known = Locked<[UInt8]?>(nil)

    /// - Parameter size: The number of its bytes.
    init(_ name: String, size: Int) {
        self.name = name
        self.size = size
    }

    /// Returns the secret, which is stored when it is first needed.
    ///
    /// - Parameter store: Not one within the transaction of a request, which may be rolled back.
    func value(from store: MessagingStore) async throws -> [UInt8] {
        if let known = known.withLock({ known in known }) { return known }
        let found = try await store.secret(name) { [size] in store.environment.randomBytes(size) }
        known.withLock { known in known = found }
        return found
    }

    /// Replaces the secret by another random one. Other processes that have read it keep the former one.
    func renew(in store: MessagingStore) async throws {
        _ = try await value(from: store)
        let new = try await store.replaceSecret(name) { [size] _ in
            store.environment.randomBytes(size)
        }
        known.withLock { known in known = new }
    }
}

extension Transaction {
    fileprivate func secret(_ name: String) throws -> [UInt8]? {
        try first("SELECT value FROM secrets WHERE name = \(name)") { row in try row.blob(0) }
    }
}
