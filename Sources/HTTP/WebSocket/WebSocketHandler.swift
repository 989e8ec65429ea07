/// An application's end of a WebSocket; every call comes on the socket's loop and must not block.
public protocol WebSocketHandler: AnyObject, Sendable {
    /// The handshake is answered; messages may be sent, from any thread.
    func opened(_ socket: WebSocket)

    /// A whole message came; text is UTF-8, checked (H137).
    func received(_ message: WebSocketMessage, on socket: WebSocket)

    /// The socket is over, whoever ended it; the last call.
    ///
    /// - Parameter code: What was said first, by either side; ``CloseCode/unstated`` for a close frame
    ///   without a code, ``CloseCode/abnormal`` when nothing was said.
    func closed(_ socket: WebSocket, _ code: CloseCode)
}
