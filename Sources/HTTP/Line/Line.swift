/// The open end of a connection that stays busy after its answer's head: octets of a content whose
/// length nobody knows yet, or of the protocol that follows `101 Switching Protocols`.
///
/// Belongs to a loop: everything but ``perform(_:)`` is called there. No call of a line calls its
/// handler in turn, so a handler may call it from the middle of changing its own state; what it
/// asks for happens at the end of the loop's turn. After ``LineHandler/closed()`` every call is
/// without effect.
public protocol Line: AnyObject, Sendable {
    /// The loop's monotonic clock, in milliseconds.
    var milliseconds: Int64 { get }
    /// Octets handed over that the socket has not taken yet; what a slow peer costs.
    var queuedCount: Int64 { get }
    /// More than the server's `writeHigh` waits: whoever can wait does, until
    /// ``LineHandler/drained()`` (H185).
    var isFull: Bool { get }
    /// Whether octets are received; a handler that is behind stops the peer by saying false.
    var isReading: Bool { get set }

    /// Queues octets behind everything else; they leave at the end of the loop's turn.
    ///
    /// A content is framed in chunks on the way where the peer's version needs it. Never waits and
    /// never refuses: the bound is the handler's, by ``queuedCount``. An array that many lines send
    /// is not copied for each of them.
    func send(_ octets: [UInt8])

    /// Has ``LineHandler/deadlinePassed()`` called at a time of ``milliseconds``, once; `.max` for
    /// never. The last call counts.
    func setDeadline(_ time: Int64)

    /// Nothing more is sent: a content ends and the connection may serve its next request; after
    /// `101` the connection closes in good order (H96).
    func finish()

    /// Breaks the connection, so that the peer notices that something is missing (H88).
    func abort()

    /// Runs something on the loop, from any thread: at once when called there, else in its next
    /// turn; dropped once the line is closed.
    func perform(_ work: @escaping @Sendable () -> Void)
}
