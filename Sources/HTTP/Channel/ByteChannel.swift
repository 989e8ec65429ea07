/// An open connection after a response head: it carries response content of unknown length, or the
/// protocol that follows `101 Switching Protocols`.
///
/// Belongs to an event loop: everything but ``perform(_:)`` must be called on it. No method calls
/// the handler synchronously, so a handler may call them while it changes its own state; effects
/// happen at the end of the loop's turn. After ``ByteChannelHandler/closed()`` all calls are
/// without effect.
public protocol ByteChannel: AnyObject, Sendable {
    /// The loop's monotonic clock, in milliseconds.
    var milliseconds: Int64 { get }
    /// Bytes that were sent but not yet accepted by the socket: the memory that a slow peer costs.
    var queuedCount: Int64 { get }
    /// Whether more than the server's `writeHigh` is queued. Senders that can wait should wait for
    /// ``ByteChannelHandler/drained()`` (H185).
    var isFull: Bool { get }
    /// Whether bytes are received. Setting false applies back-pressure to the peer.
    var isReading: Bool { get set }

    /// Queues bytes; they are written at the end of the loop's turn.
    ///
    /// Content is sent in chunks where HTTP requires it. Never waits and never fails: the handler
    /// must bound the queue by ``queuedCount``. An array sent on many channels is not copied.
    func send(_ bytes: [UInt8])

    /// Schedules one call of ``ByteChannelHandler/deadlinePassed()`` at a time of ``milliseconds``;
    /// `.max` for never. A later call replaces the deadline.
    func setDeadline(_ time: Int64)

    /// Ends the content; the connection may then serve its next request. After `101` it closes the
    /// connection in order (H96).
    func finish()

    /// Closes the connection abruptly, so that the peer detects that content is missing (H88).
    func abort()

    /// Runs work on the loop, from any thread: at once when called there, otherwise in its next
    /// turn. Dropped once the channel is closed.
    func perform(_ work: @escaping @Sendable () -> Void)
}

/// Writes to a ``ByteChannel`` and receives its events; every method is called on the channel's
/// loop.
public protocol ByteChannelHandler: AnyObject, Sendable {
    /// The head has been queued; the channel may be used until ``closed()``.
    ///
    /// What is sent here is written together with the head (H151).
    func opened(_ channel: any ByteChannel)

    /// Bytes were received, after `101` only; they are valid during the call.
    func received(_ bytes: Span<UInt8>)

    /// The time set by ``ByteChannel/setDeadline(_:)`` has passed.
    func deadlinePassed()

    /// Follows ``ByteChannel/isFull``: the queue has shrunk to the server's `writeLow`.
    func drained()

    /// The server is stopping (H194): finish soon.
    func stopping()

    /// The channel is closed, by either side. The last call, made exactly once for every handler in
    /// a response.
    ///
    /// It is the only call when no channel was opened: for a `HEAD`, for a status without content,
    /// or when the peer closed the connection before the response.
    func closed()
}

extension ByteChannelHandler {
    /// Does nothing: response content receives no bytes.
    public func received(_ bytes: Span<UInt8>) {}

    /// Does nothing.
    public func deadlinePassed() {}

    /// Does nothing.
    public func drained() {}
}

/// A change to another protocol on the same connection: `101`, then bytes in both directions.
///
/// Valid only when the request has requested it, over HTTP/1.1 and without a body (H86, H131); otherwise
/// the transport answers 400.
public struct Upgrade: Sendable {
    /// The protocol in `Upgrade`, such as `websocket`.
    let token: String
    /// Header fields besides `Upgrade` and `Connection`.
    let fields: ResponseFields
    /// The handler of the new protocol.
    fileprivate let handler: any ByteChannelHandler

    /// Makes an upgrade.
    public init(
        to token: String, fields: ResponseFields = ResponseFields(), handler: any ByteChannelHandler
    ) {
        self.token = token
        self.fields = fields
        self.handler = handler
    }
}

extension Response {
    /// The `101` response of an upgrade, for services that decide asynchronously.
    public init(_ upgrade: Upgrade) {
        self.init(.switchingProtocols, fields: upgrade.fields, content: .stream(upgrade.handler))
        fields.add("Upgrade", upgrade.token)
    }
}
