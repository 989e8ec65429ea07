/// What a peer did that ends its WebSocket at once (H142).
package struct WebSocketFault: Error, Equatable, Sendable {
    /// The code of the close frame.
    package let code: CloseCode
    /// The rule that was broken, such as `H132`.
    package let rule: String
    /// The reason of the close frame, ASCII, at most 123 octets.
    package let reason: String

    init(_ code: CloseCode, _ rule: String, _ reason: String) {
        self.code = code
        self.rule = rule
        self.reason = reason
    }
}
