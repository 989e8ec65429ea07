import Messaging
import Testing

@Suite struct `Idempotency keys` {
    @Test(arguments: ["a", "order-4711", "\"quoted\"", String(repeating: "~", count: 255), "!"])
    func `are 1 to 255 visible ASCII characters (X2)`(text: String) {
        #expect(IdempotencyKey(text)?.text == text)
    }

    @Test(arguments: [
        "", " ", "a b", "a\tb", "a\n", "ä", "\u{7F}", "\u{0}", "a, b",
        String(repeating: "a", count: 256),
    ])
    func `are nothing else (X2)`(text: String) {
        #expect(IdempotencyKey(text) == nil)
    }
}
