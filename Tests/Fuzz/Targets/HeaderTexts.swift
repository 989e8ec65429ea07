import Bytes

@testable import HTTP

/// Texts of clients that are written into header fields: file names, media types, digests.
enum HeaderTexts {
    static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        let disposition = FileName(untrusted: text).disposition(isInline: false)
        invariant("a file name stays inside its header (H126)", isVisible(disposition))
        let quotes = disposition.replacing("\\\\", with: "").replacing("\\\"", with: "")
        invariant(
            "a file name stays inside its quotes", quotes.utf8.count { byte in byte == 0x22 } == 2)
        invariant(
            "a media type stays inside its header", isVisible(MediaType(untrusted: text).text))
        if let bytes = Base64.decode(text) {
            invariant("base64 has one text per value", Base64.encode(bytes) == text)
        }
        if let bytes = Base64.decodeForURL(text) {
            invariant("URL-safe base64 has one text per value", Base64.encodeForURL(bytes) == text)
        }
    }

    private static func isVisible(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in (0x20...0x7E).contains(byte) }
    }
}
