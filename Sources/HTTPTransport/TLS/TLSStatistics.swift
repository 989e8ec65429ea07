/// What the TLS listeners of a server have done.
public struct TLSStatistics: Sendable, Equatable {
    /// Handshakes in progress.
    public var pending = 0
    /// Handshakes that succeeded.
    public var established = 0
    /// Those of them that resumed a session.
    public var resumed = 0
    /// Handshakes that did not.
    public var failed = 0

    /// Nothing yet.
    public init() {}

    init(pending: Int, established: Int, resumed: Int, failed: Int) {
        self.pending = pending
        self.established = established
        self.resumed = resumed
        self.failed = failed
    }
}
