@testable import HTTP
@testable import WebSockets

/// What a client offers with a WebSocket (H127, H150), and where an event stream goes on (H154).
enum Offers {
    static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let fields = Fields([("Sec-WebSocket-Extensions", text)])
        if let agreed = CompressionOffer.accept(fields, WebSocketCompression()) {
            law("a window has 9 to 15 bits (H150)", (9...15).contains(agreed.policy.windowBits))
            law("what is agreed was offered", text.lowercased().contains("permessage-deflate"))
            let again = CompressionOffer.accept(
                Fields([("Sec-WebSocket-Extensions", agreed.line)]), WebSocketCompression())
            law("what is agreed can be offered", again != nil)
        }
    }
}
