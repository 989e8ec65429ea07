@testable import HTTP
@testable import WebSockets

/// The extensions that a client offers for a WebSocket (H127, H150).
enum Offers {
    static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let fields = Fields([("Sec-WebSocket-Extensions", text)])
        if let agreed = CompressionOffer.accept(fields, WebSocketCompression()) {
            invariant(
                "a window has 9 to 15 bits (H150)", (9...15).contains(agreed.policy.windowBits))
            invariant(
                "the agreed extension was offered", text.lowercased().contains("permessage-deflate")
            )
            let again = CompressionOffer.accept(
                Fields([("Sec-WebSocket-Extensions", agreed.line)]), WebSocketCompression())
            invariant("the agreed extension can be offered", again != nil)
        }
    }
}
