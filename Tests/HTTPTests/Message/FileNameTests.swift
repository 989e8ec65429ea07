import HTTP
import Testing

@Suite struct `A file name` {
    @Test(arguments: [
        ("a.png", "a.png"), ("/etc/passwd", "passwd"), ("C:\\x\\y.txt", "y.txt"), ("..", "content"),
        (".", "content"), ("", "content"), ("a/", "content"),
        ("a\r\nSet-Cookie: x", "aSet-Cookie: x"),
        ("a\u{0}b", "ab"), ("invoice\u{202E}fdp.exe", "invoicefdp.exe"),
        ("\u{7F}a\u{9B}\u{85}b", "ab"), ("a\u{61C}b\u{200F}c\u{2066}d\u{2069}", "abcd"),
        ("a\u{2028}b\u{2029}c", "abc"), ("..\u{0}", "content"), (".\u{1}.", "content"),
        ("\u{1}\u{2}", "content"), ("a\\\u{7}", "content"), ("../../\u{8}a", "a"),
        ("x/..\\a\tb", "ab"), ("...", "..."), (" ", " "), ("a\r/b\n", "b"),
    ])
    func `is the last component without control characters (ruling 33)`(said: String, kept: String)
    {
        #expect(FileName(untrusted: said).text == kept)
    }

    @Test func `is truncated to 255 bytes between characters (H126)`() {
        let name = FileName(untrusted: String(repeating: "ä", count: 200)).text
        #expect(name.utf8.count == 254)
    }

    @Test(arguments: [
        ("a\"b.txt", #"attachment; filename="a\"b.txt"; filename*=UTF-8''a%22b.txt"#),
        ("grüße.txt", "attachment; filename=\"gr__e.txt\"; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt"),
        ("a;b%.txt", "attachment; filename=\"a;b%.txt\"; filename*=UTF-8''a%3Bb%25.txt"),
    ])
    func `is written in both forms, escaped (H126)`(said: String, expected: String) {
        #expect(FileName(untrusted: said).disposition(isInline: false) == expected)
    }

    @Test(arguments: [
        (#"attachment; filename="a.png""#, "a.png"),
        (#"attachment; filename="C:\files\a.png""#, "a.png"),
        (#"attachment; filename="a\"b\\c.png""#, "c.png"),
        ("attachment; filename*=UTF-8''a%00b%0D%0Ac.png", "abc.png"),
        ("attachment; filename*=UTF-8''x%2Fy%5Cz.png", "z.png"),
        ("attachment; filename*=UTF-8''%01%02; filename=b", "content"),
        ("attachment; filename*=UTF-8''%zz; filename=b.png", "b.png"),
        ("attachment; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt", "grüße.txt"),
    ])
    func `is read from Content-Disposition and sanitized (ruling 33)`(
        value: String, kept: String
    ) throws {
        let name = FileName(untrusted: try #require(ContentDisposition.fileName(in: value)))
        #expect(name.text == kept)
        let safe = name.disposition(isInline: true).unicodeScalars
        #expect(safe.allSatisfy { (0x20...0x7E).contains($0.value) })
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
