import HTTP

/// Sends every message back, for `/ws`.
final class EchoedMessages: WebSocketHandler {
    /// It knows nothing of a socket, so one is enough.
    static let everywhere = EchoedMessages()

    func opened(_ socket: WebSocket) {}
    func received(_ message: WebSocketMessage, on socket: WebSocket) { socket.send(message) }
    func closed(_ socket: WebSocket, _ code: CloseCode) {}
}
