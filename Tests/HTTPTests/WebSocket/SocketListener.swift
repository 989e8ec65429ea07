import Locking

@testable import HTTP

/// An application that keeps what it is told, and answers text as an echo where asked to.
final class SocketListener: WebSocketHandler {
    struct State {
        var socket: WebSocket?
        var messages: [WebSocketMessage] = []
        var closings: [CloseCode] = []
    }

    private let state = Locked(State())
    private let echoes: Bool

    init(echoes: Bool = false) { self.echoes = echoes }

    var socket: WebSocket? { state.withLock { state in state.socket } }
    var messages: [WebSocketMessage] { state.withLock { state in state.messages } }
    var closings: [CloseCode] { state.withLock { state in state.closings } }

    func opened(_ socket: WebSocket) { state.withLock { state in state.socket = socket } }
    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        state.withLock { state in state.messages.append(message) }
        if echoes { socket.send(message) }
    }
    func closed(_ socket: WebSocket, _ code: CloseCode) {
        state.withLock { state in
            state.closings.append(code)
            state.socket = nil
        }
    }
}
