import Testing

@testable import Uploads

@Suite struct `Base 64` {
    // RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `goes both ways`(plain: String, coded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == coded)
        #expect(Base64.decode(coded) == Array(plain.utf8))
    }

    @Test(arguments: ["Zg", "Zg=", "Zh==", "Z===", "Zg==Zg==", "Zm9v ", "_-__", "=", "Zm9"])
    func `takes one text for one value`(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
