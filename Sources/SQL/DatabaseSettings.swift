import Glibc

/// Receives statements that are prepared, each with a closure that finds its plan: a line for each table
/// (https://sqlite.org/eqp.html).
package typealias StatementObserver =
    @Sendable (_ statement: String, _ plan: () throws -> [String]) -> Void

/// The options of a database.
public struct DatabaseSettings: Sendable {
    /// Concurrent readers; default 2.
    public var readers: Int = 2

    /// How long to wait for the lock of another process that writes; default 5 s.
    public var busyTimeout: Duration = .seconds(5)

    /// The time limit of one statement on a server; default 30 s. A file has no such limit.
    public var statementTimeout: Duration = .seconds(30)

    /// How long a server keeps a transaction that sends no statement; default 60 s. Such a transaction blocks
    /// all other writers.
    public var idleTimeout: Duration = .seconds(60)

    /// Pages of 4 KiB in the write-ahead log of a file that start a checkpoint; default 4096 (16 MiB).
    public var checkpointInterval: Int = 4096

    /// The time without a commit after which a shorter log is copied into the file as well; default 1 s.
    public var quietTime: Duration = .seconds(1)

    /// The maximum size of a file in pages of 4 KiB; `nil` for no limit. Beyond it changes fail with
    /// ``SQLError/Kind/diskFull``.
    public var pageLimit: Int?

    /// The clock for `schema_migrations`, in milliseconds since 1970 UTC.
    public var now: @Sendable () -> Int64 = systemMilliseconds

    /// Called after each commit, on the writer's thread, with the time from the start of the batch to the end
    /// of its sync.
    public var onCommit: @Sendable (Duration) -> Void = { _ in }

    /// Called with each statement that a connection to a file prepares; for tests.
    package var onPrepare: StatementObserver?

    /// The defaults.
    public init() {}
}

@Sendable private func systemMilliseconds() -> Int64 {
    var time = timespec()
    // Cannot fail: the clock exists and the address is valid during the call.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}

/// A temporary folder that is deleted with this object.
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
        // The texts live through the calls.
        for file in ["database", "database-wal", "database-shm"] {
            unsafe unlink("\(path)/\(file)")
        }
        unsafe rmdir(path)
    }
}
