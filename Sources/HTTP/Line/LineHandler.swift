/// Whoever writes to a ``Line`` and hears of it; every call comes on the line's loop.
public protocol LineHandler: AnyObject, Sendable {
    /// The head has been queued; the line is yours until ``closed()``.
    ///
    /// What is sent here leaves together with the head (H151).
    func opened(_ line: any Line)

    /// Octets came, after `101` only; they are valid during the call.
    func received(_ octets: Span<UInt8>)

    /// The time of ``Line/setDeadline(_:)`` has come.
    func deadlinePassed()

    /// After ``Line/isFull``: the socket has taken what was queued, down to the server's `writeLow`.
    func drained()

    /// The server stops (H194): say goodbye and finish, soon.
    func stopping()

    /// The line is gone, whoever ended it; the last call, and exactly one for every handler that
    /// was answered with.
    ///
    /// It comes alone when there never was a line: to a `HEAD`, for a status without content, when
    /// the peer left before the answer.
    func closed()
}

extension LineHandler {
    /// A content receives nothing.
    public func received(_ octets: Span<UInt8>) {}

    /// Set no deadline, hear of none.
    public func deadlinePassed() {}

    /// Nobody waits for room.
    public func drained() {}
}
