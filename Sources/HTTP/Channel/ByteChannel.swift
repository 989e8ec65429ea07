/// The open end of a connection that stays busy after its answer's head: bytes of a content whose
/// length nobody knows yet, or of the protocol that follows `101 Switching Protocols`.
///
/// Belongs to a loop: everything but ``perform(_:)`` is called there. No call of a line calls its
/// handler in turn, so a handler may call it from the middle of changing its own state; what it
/// asks for happens at the end of the loop's turn. After ``ByteChannelHandler/closed()`` every call is
/// without effect.
public protocol ByteChannel: AnyObject, Sendable {
    /// The loop's monotonic clock, in milliseconds.
    var milliseconds: Int64 { get }
    /// Bytes handed over that the socket has not taken yet; what a slow peer costs.
    var queuedCount: Int64 { get }
    /// More than the server's `writeHigh` waits: whoever can wait does, until
    /// ``ByteChannelHandler/drained()`` (H185).
    var isFull: Bool { get }
    /// Whether bytes are received; a handler that is behind stops the peer by saying false.
    var isReading: Bool { get set }

    /// Queues bytes behind everything else; they leave at the end of the loop's turn.
    ///
    /// A content is framed in chunks on the way where the peer's version needs it. Never waits and
    /// never refuses: the bound is the handler's, by ``queuedCount``. An array that many lines send
    /// is not copied for each of them.
    func send(_ bytes: [UInt8])

    /// Has ``ByteChannelHandler/deadlinePassed()`` called at a time of ``milliseconds``, once; `.max` for
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

/// Whoever writes to a ``ByteChannel`` and hears of it; every call comes on the line's loop.
public protocol ByteChannelHandler: AnyObject, Sendable {
    /// The head has been queued; the line is yours until ``closed()``.
    ///
    /// What is sent here leaves together with the head (H151).
    func opened(_ line: any ByteChannel)

    /// Bytes came, after `101` only; they are valid during the call.
    func received(_ bytes: Span<UInt8>)

    /// The time of ``ByteChannel/setDeadline(_:)`` has come.
    func deadlinePassed()

    /// After ``ByteChannel/isFull``: the socket has taken what was queued, down to the server's `writeLow`.
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

extension ByteChannelHandler {
    /// A content receives nothing.
    public func received(_ bytes: Span<UInt8>) {}

    /// Set no deadline, hear of none.
    public func deadlinePassed() {}

    /// Nobody waits for room.
    public func drained() {}
}

/// The change to another protocol on the same connection: `101`, then raw bytes both ways.
///
/// A service answers with it only when the request asks for it, in HTTP/1.1 and without a body
/// (H86, H131); otherwise the transport refuses with 400.
public struct Upgrade: Sendable {
    /// The protocol's name in `Upgrade`, such as `websocket`.
    public let token: String
    /// Fields beside `Upgrade` and `Connection`.
    public let fields: ResponseFields
    /// Who speaks the new protocol.
    public let handler: any ByteChannelHandler

    /// Makes one.
    public init(
        to token: String, fields: ResponseFields = ResponseFields(), handler: any ByteChannelHandler
    ) {
        self.token = token
        self.fields = fields
        self.handler = handler
    }
}

extension Response {
    /// The `101` of an upgrade, for services that must wait before they can decide.
    public init(_ upgrade: Upgrade) {
        self.init(.switchingProtocols, fields: upgrade.fields, content: .stream(upgrade.handler))
        fields.add("Upgrade", upgrade.token)
    }
}
