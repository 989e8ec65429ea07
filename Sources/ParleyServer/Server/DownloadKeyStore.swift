import MessagingStore
import SystemSupport
import Uploads

/// The keys that sign download URLs: those of the data folder, or of the database that several processes
/// share, so that each of them opens what another one has signed.
struct DownloadKeyStore: Sendable {
    let store: MessagingStore
    let folder: String

    private static let name = "download-keys"
    /// How often other processes' rotations are looked for, in milliseconds.
    private static let interval: Int64 = 10_000

    /// Reads them, making them on the first start. In a database without any, those of the folder go on to
    /// be believed by all.
    func load() async throws -> SigningKeys {
        guard store.isShared else { return try loadOwn() }
        return try Self.read(try await store.secret(Self.name) { try loadOwn().bytes })
    }

    private func loadOwn() throws(CommandFailure) -> SigningKeys {
        try CommandFailure.naming(folder) { try SigningKeys.load(folder: folder) }
    }

    /// Has the next key of the database sign.
    ///
    /// - Parameter now: Milliseconds since 1970 UTC.
    func rotate(_ rotation: SigningKeys.Rotation, at now: Int64) async throws -> SigningKeys {
        let bytes = try await store.replaceSecret(Self.name) { bytes in
            try Self.read(bytes).rotated(rotation, at: now).bytes
        }
        guard let bytes else {
            throw CommandFailure("the database holds no download keys: the first start makes them")
        }
        return try Self.read(bytes)
    }

    /// Has downloads follow what other processes and commands make of the keys, until it is cancelled.
    func follow(_ downloads: Downloads, onFault: @escaping @Sendable (any Error) -> Void) async {
        guard store.isShared else { return }
        await runRepeatedly(after: Self.interval) {
            do {
                downloads.replaceKeys(try await load())
            } catch {
                // Those that were read before go on to sign.
                onFault(error)
            }
        }
    }

    private static func read(_ bytes: [UInt8]) throws(CommandFailure) -> SigningKeys {
        guard let keys = SigningKeys(bytes: bytes) else {
            throw CommandFailure("the download keys in the database are something else")
        }
        return keys
    }
}
