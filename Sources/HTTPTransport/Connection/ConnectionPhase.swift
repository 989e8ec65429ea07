import HTTP

/// What a connection does at the moment.
enum ConnectionPhase {
    /// Between requests, or inside a request head.
    case head
    /// A handler works on a request.
    case working(Exchange)
    /// The response continues after its head until its handler ends it. Meanwhile the rest of the request's
    /// body is discarded.
    case channel(ConnectionChannel)
    /// The response is queued or sent; the rest of the request's body is discarded (H92).
    case discarding
    /// The last response is being sent; then the connection closes in order (H96).
    case closing
    /// The sending side is shut down; a limited number of bytes of the peer are discarded (H96).
    case lingering
    /// The connection is closed.
    case closed

    var isClosed: Bool {
        if case .closed = self { true } else { false }
    }

    /// Whether more bytes can be processed or buffered (H81, H185).
    ///
    /// - Parameters:
    ///   - unprocessed: The number of received bytes that are not processed yet, with the limit for reading ahead.
    ///   - unsent: The number of output bytes that are not sent yet, with the limit above which no request begins.
    ///   - isDiscarding: Whether a part of the request's body is still to be discarded.
    func wantsInput(
        unprocessed: Int, atMost readAhead: Int, unsent: Int64, atMost writeHigh: Int64,
        isDiscarding: Bool
    ) -> Bool {
        switch self {
        case .head: return unsent < writeHigh
        case .working(let exchange):
            if exchange.pendingRead != nil { return true }
            // Between two reads of the handler the body stays in the socket. After the body a little is read
            // ahead, which also detects that the peer has gone.
            return exchange.decoder.isComplete && unprocessed < readAhead
        case .channel(let channel):
            if isDiscarding { return true }
            return channel.framing == .upgraded
                ? channel.takesBytes : unprocessed < readAhead
        case .discarding, .lingering: return true
        case .closing, .closed: return false
        }
    }

    /// Whether the next bytes belong to a later request.
    ///
    /// - Parameter isDiscarding: Whether a part of the request's body is still to be discarded.
    func readsAhead(isDiscarding: Bool) -> Bool {
        switch self {
        case .working(let exchange): exchange.pendingRead == nil
        case .channel(let channel): !isDiscarding && channel.framing != .upgraded
        default: false
        }
    }
}
