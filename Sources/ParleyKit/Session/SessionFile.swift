internal import Blobs
internal import FoundationEssentials
internal import JSON
internal import SystemSupport

/// A session of a store's user.
struct StoredSession: Equatable, Sendable {
    let user: UserID
    let token: String
}

/// Where the session of a store is stored between runs (K9).
protocol SessionStorage: Sendable {
    /// The session; `nil` if there is none that can be read.
    func read() async throws(ParleyError) -> StoredSession?
    func write(_ session: StoredSession) async throws(ParleyError)
    func delete() async throws(ParleyError)
}

/// The storage of a platform for the session of the store in a folder.
func sessionStorage(in folder: String) -> any SessionStorage {
    #if canImport(Security)
        KeychainSession(in: folder)
    #else
        SessionFile(in: folder)
    #endif
}

/// The session in a file that only the user of the process can read.
struct SessionFile: SessionStorage {
    static let name = "session"
    private let folder: String
    private let queue = WorkQueue("parley.kit.session")

    /// - Parameter folder: The folder of the store.
    init(in folder: String) { self.folder = folder }

    func read() async throws(ParleyError) -> StoredSession? {
        try await queue.run { [folder] () throws(ParleyError) in try Self.read(in: folder) }
    }

    func write(_ session: StoredSession) async throws(ParleyError) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("user", session.user.text)
            writer.member("token", session.token)
        }
        let bytes = writer.finish()
        try await queue.run { [folder] () throws(ParleyError) in
            _ = try Self.access { () throws(DiskError) in
                try Self.file(in: folder)?.write(bytes)
            }
        }
    }

    func delete() async throws(ParleyError) {
        try await queue.run { [path] () throws(ParleyError) in
            guard FileManager.default.fileExists(atPath: path) else { return }
            do {
                try FileManager.default.removeItem(atPath: path)
            } catch {
                throw ParleyError(
                    .storeUnavailable, "The file of the session cannot be deleted: \(error).")
            }
        }
    }

    private var path: String { "\(folder)/\(Self.name)" }

    /// Reads the file; blocks.
    static func read(in folder: String) throws(ParleyError) -> StoredSession? {
        let bytes = try access { () throws(DiskError) in try file(in: folder)?.read() }
        guard let bytes, let object = (try? JSONDocument(bytes))?.root,
            let user = object["user"]?.string, let token = object["token"]?.string
        else { return nil }
        try Access.restrict("\(folder)/\(name)", to: 0o600)
        return StoredSession(user: UserID(user), token: token)
    }

    private static func file(in folder: String) throws(DiskError) -> SecretFile? {
        try BlobName(name).map { name throws(DiskError) in
            try SecretFile(folder: folder, name: name)
        }
    }

    private static func access<Value>(
        _ body: () throws(DiskError) -> Value
    ) throws(ParleyError) -> Value {
        do throws(DiskError) {
            return try body()
        } catch {
            throw ParleyError(error)
        }
    }
}

/// The permissions of files and folders.
enum Access {
    /// The permissions of a file or folder; all if the system does not say.
    static func mode(of path: String) throws -> Int {
        let value = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        return (value as? Int ?? (value as? UInt).map { mode in Int(mode) } ?? 0o777) & 0o777
    }

    /// Takes permissions away that a file or folder has beyond some.
    ///
    /// - Throws: `storeUnavailable` if they cannot be changed, because the file is another user's.
    static func restrict(_ path: String, to mode: Int) throws(ParleyError) {
        do {
            guard try self.mode(of: path) & ~mode != 0 else { return }
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        } catch {
            throw ParleyError(
                .storeUnavailable,
                "Other users can read \(path), and that cannot be changed: \(error)."
            )
        }
    }
}
