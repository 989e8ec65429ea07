import Bytes
import Testing

@Suite("Base64") struct Base64Tests {
    // RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
        ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func `encodes and decodes`(plain: String, coded: String) {
        let bytes = Array(plain.utf8)
        #expect(Base64.encode(bytes) == coded)
        #expect(Base64.encodeToUTF8(bytes) == Array(coded.utf8))
        #expect(Base64.decode(coded) == bytes)
        #expect(Base64.decodeMIME(coded.utf8) == bytes)
        let bare = coded.filter { character in character != "=" }
        #expect(Base64.encodeForURL(bytes) == bare)
        #expect(Base64.decodeForURL(bare) == bytes)
    }

    @Test func `all bytes round-trip in both alphabets`() {
        let bytes = (0...255).map { number in UInt8(number) }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        #expect(Base64.decodeForURL(Base64.encodeForURL(bytes)) == bytes)
        #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
        #expect(Base64.encodeForURL([0xFB, 0xFF]) == "-_8")
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zh==", "Z===", "Zg==Zg==", "Zm9v ", "_-__", "=", "Zm9", "Zm9v\n", "Z=9v",
        "====", "Zm9\u{E9}",
    ])
    func `accepts one text per value`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Zg==", "Z", "Zh", "Zm9vZ", "+/8", "Zm 9"])
    func `accepts one URL-safe text per value`(text: String) {
        #expect(Base64.decodeForURL(text) == nil)
    }

    @Test(
        arguments: [
            ("AAEC\r\nAw==\n", [0, 1, 2, 3]), ("Zh==", [0x66]), ("ab=c", nil), ("a===", nil),
            ("====", nil), ("ab_-", nil), ("ab cd", nil), ("abc", nil),
            ("Zm9v\n", [0x66, 0x6F, 0x6F]),
        ] as [(String, [UInt8]?)])
    func `decodes MIME base64 and nothing else`(text: String, bytes: [UInt8]?) {
        #expect(Base64.decodeMIME(text.utf8) == bytes)
    }
}
