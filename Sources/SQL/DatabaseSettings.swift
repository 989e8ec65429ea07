import Glibc

/// What a database may be told when it is opened.
public struct DatabaseSettings: Sendable {
    /// Connections that read at the same time; 2 unless said otherwise.
    public var readers: Int = 2

    /// How long to wait for another process that writes; 5 seconds unless said otherwise.
    public var busyTimeout: Duration = .seconds(5)

    /// How long a server may work on one statement; 30 seconds unless said otherwise. A file has no
    /// such limit.
    public var statementTimeout: Duration = .seconds(30)

    /// How long a server lets a change rest between two statements; 60 seconds unless said otherwise. Who
    /// hangs in the middle of one keeps all others waiting.
    public var idleTimeout: Duration = .seconds(60)

    /// Pages of 4 KiB in a file's write-ahead log after which they are moved to the file; 4096
    /// (16 MiB) unless said otherwise.
    public var checkpointInterval: Int = 4096

    /// The most pages of 4 KiB a file may have; `nil` for as many as the disk holds. Beyond it
    /// changes fail as on a full disk.
    public var pageLimit: Int?

    /// The time for `schema_migrations`, in milliseconds since 1970 UTC.
    public var now: @Sendable () -> Int64 = systemMilliseconds

    /// Told after each batch how long it took from its beginning to the end of its sync, on the writer's
    /// thread.
    public var onCommit: @Sendable (Duration) -> Void = { _ in }

    /// Settings that suit a server of a few cores.
    public init() {}
}

@Sendable private func systemMilliseconds() -> Int64 {
    var time = timespec()
    // Cannot fail: the clock exists and the address is valid during the call.
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
}
