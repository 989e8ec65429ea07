import HTTP
import Testing

@Suite struct `A file name a client is told` {
    @Test(arguments: [
        ("a.png", "a.png"), ("/etc/passwd", "passwd"), ("C:\\x\\y.txt", "y.txt"), ("..", "content"),
        (".", "content"), ("", "content"), ("a/", "content"),
        ("a\r\nSet-Cookie: x", "aSet-Cookie: x"),
        ("a\u{0}b", "ab"), ("invoice\u{202E}fdp.exe", "invoicefdp.exe"),
    ])
    func `is one component without control characters (H126)`(said: String, kept: String) {
        #expect(FileName(untrusted: said).text == kept)
    }

    @Test func `is cut at 255 bytes between characters (H126)`() {
        let name = FileName(untrusted: String(repeating: "ä", count: 200)).text
        #expect(name.utf8.count == 254)
    }

    @Test(arguments: [
        ("a\"b.txt", #"attachment; filename="a\"b.txt"; filename*=UTF-8''a%22b.txt"#),
        ("grüße.txt", "attachment; filename=\"gr__e.txt\"; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt"),
        ("a;b%.txt", "attachment; filename=\"a;b%.txt\"; filename*=UTF-8''a%3Bb%25.txt"),
    ])
    func `is said in both forms, escaped (H126)`(said: String, expected: String) {
        #expect(FileName(untrusted: said).disposition(isInline: false) == expected)
    }

    @Test(arguments: [
        ("image/png", "image/png"), (" text/plain; charset=utf-8 ", "text/plain; charset=utf-8"),
        ("image", "application/octet-stream"), ("a/b/c", "application/octet-stream"),
        ("text/html\r\nX: y", "application/octet-stream"), ("/png", "application/octet-stream"),
        ("te xt/html", "application/octet-stream"),
        ("a/" + String(repeating: "b", count: 260), "application/octet-stream"),
    ])
    func `a media type that could harm a header is replaced (H126)`(said: String, kept: String) {
        #expect(MediaType(untrusted: said).text == kept)
    }
}
