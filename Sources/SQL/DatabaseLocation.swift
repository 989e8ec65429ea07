import Glibc

/// Where a database lies.
public enum DatabaseLocation: Hashable, Sendable {
    /// The path of a file, made when it does not exist; its folder has to. Two files lie beside it
    /// while it is open, named alike with `-wal` and `-shm` behind.
    case file(String)

    /// A file of its own under the system's temporary folder, gone when the database is. For tests:
    /// it is written and synced as any other.
    case temporary

    /// A database of a PostgreSQL server: a URL as libpq reads it, with whatever secrets it holds. Its
    /// tables lie in the schema that comes first on the search path.
    case server(String)

    /// Looks at the URL of a server without asking the server.
    ///
    /// - Throws: ``SQLError/Kind/misuse`` for one that libpq would not understand.
    public func check() throws(SQLError) {
        if case .server(let url) = self { try PostgresConnection.requireURL(url) }
    }
}

/// A folder that lasts as long as this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws(SQLError) {
        var template = Array("/tmp/parley-sql-XXXXXX".utf8CString)
        // Holds because mkdtemp writes only over the template, which ends in a zero byte.
        let made = unsafe template.withUnsafeMutableBufferPointer { name in
            unsafe name.baseAddress.flatMap { unsafe mkdtemp($0) } != nil
        }
        guard made else { throw SQLError(.cannotOpen, "no folder under /tmp: \(errno)") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for file in ["database", "database-wal", "database-shm"] {
            unsafe unlink("\(path)/\(file)")
        }
        unsafe rmdir(path)
    }
}
