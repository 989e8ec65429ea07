import Bytes

@testable import HTTP

/// Words that clients say and that end up in header fields: file names, media types, digests.
enum Words {
    static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let disposition = FileName(untrusted: text).disposition(isInline: false)
        law("a file name breaks out of no field (H126)", isVisible(disposition))
        let quotes = disposition.replacing("\\\\", with: "").replacing("\\\"", with: "")
        law("… and out of no quotes", quotes.utf8.count { byte in byte == 0x22 } == 2)
        law("a media type breaks out of no field", isVisible(MediaType(untrusted: text).text))
        if let bytes = Base64.decode(text) {
            law("base 64 has one text for one value", Base64.encode(bytes) == text)
        }
        if let bytes = Base64.decodeForURL(text) {
            law("… for URLs too", Base64.encodeForURL(bytes) == text)
        }
    }

    private static func isVisible(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in (0x20...0x7E).contains(byte) }
    }
}
