import MessagingStore
import SystemSupport
import Uploads

/// Loads and rotates the keys that sign download URLs, from the data folder or from a database
/// shared by several processes, so that each process accepts the URLs of the others.
struct DownloadKeyStore: Sendable {
    let store: MessagingStore
    let folder: String

    private static let name = "download-keys"
    /// Milliseconds between two checks for rotations by other processes.
    private static let interval: Int64 = 10_000

    /// Loads the keys, creating them at the first start. A shared database without keys takes those
    /// of the data folder, so that existing URLs stay valid.
    func load() async throws -> SigningKeys {
        guard store.isShared else { return try loadOwn() }
        return try Self.read(try await store.secret(Self.name) { try loadOwn().bytes })
    }

    /// Loads the keys at the start of the server, and records the lifetime of URLs that are signed from now on.
    ///
    /// - Parameters:
    ///   - lifetime: In milliseconds.
    ///   - now: Milliseconds since 1970 UTC.
    func load(recording lifetime: Int64, at now: Int64) async throws -> SigningKeys {
        let keys = try await load()
        let isShared = store.isShared
        guard let changed = keys.recording(lifetime: lifetime, at: now, isShared: isShared) else {
            return keys
        }
        guard isShared else {
            try CommandFailure.naming(folder) { try changed.store(folder: folder) }
            return changed
        }
        let bytes = try await store.replaceSecret(Self.name) { bytes in
            // Read again: another process may have changed it.
            try Self.read(bytes).recording(lifetime: lifetime, at: now, isShared: isShared)?.bytes
                ?? bytes
        }
        return try bytes.map(Self.read) ?? changed
    }

    private func loadOwn() throws(CommandFailure) -> SigningKeys {
        try CommandFailure.naming(folder) { try SigningKeys.load(folder: folder) }
    }

    /// Makes the next key of the database the signing key.
    ///
    /// - Parameter now: Milliseconds since 1970 UTC.
    func rotate(_ rotation: SigningKeys.Rotation, at now: Int64) async throws -> SigningKeys {
        let bytes = try await store.replaceSecret(Self.name) { bytes in
            try Self.read(bytes).rotated(rotation, at: now).bytes
        }
        guard let bytes else {
            throw CommandFailure("the database has no download keys: the first start creates them")
        }
        return try Self.read(bytes)
    }

    /// Reloads the keys regularly, until cancelled.
    func follow(_ downloads: Downloads, onFault: @escaping @Sendable (any Error) -> Void) async {
        guard store.isShared else { return }
        await runRepeatedly(after: Self.interval) {
            do {
                downloads.replaceKeys(try await load())
            } catch {
                // The previous keys stay in use.
                onFault(error)
            }
        }
    }

    private static func read(_ bytes: [UInt8]) throws(CommandFailure) -> SigningKeys {
        guard let keys = SigningKeys(bytes: bytes) else {
            throw CommandFailure("the download keys in the database are invalid")
        }
        return keys
    }
}
