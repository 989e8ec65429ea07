import Testing

@testable import Telemetry

@Suite struct `A log line` {
    @Test func `begins with its time and level and ends with a line feed`() {
        var line = LogLine(at: 1_772_356_530_042, level: "info")
        line.text("message", "ready")
        line.number("status", -7)
        line.end()
        #expect(
            text(line)
                == #"{"time":"2026-03-01T09:15:30.042Z","level":"info","message":"ready","status":-7}"#
                + "\n")
    }

    @Test(arguments: [
        ("a\nb", #"a\nb"#),
        ("a\r\u{1B}[31mb", #"a\u000d\u001b[31mb"#),
        ("\u{7F}", #"\u007f"#),
        ("\u{9B}31m", #"\u009b31m"#),
        ("\u{2028}\u{2029}", #"\u2028\u2029"#),
        (#"","level":"forged"#, #"\",\"level\":\"forged"#),
        (#"\"#, #"\\"#),
        ("grüße 🙂", "grüße 🙂"),
    ]) func `H207 keeps a value inside its quotes`(value: String, expected: String) {
        #expect(escaped(Array(value.utf8)) == expected)
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `H207 copies only bytes that need no escaping, at any position`(byte: UInt8) {
        let isPlain = (0x20...0x7E).contains(byte) && byte != 0x22 && byte != 0x5C
        for index in 0..<19 {
            var text = [UInt8](repeating: UInt8(ascii: "x"), count: 19)
            text[index] = byte
            #expect(LogEscape.isPlain(text.span) == isPlain)
        }
    }

    @Test func `H207 replaces what is not UTF-8`() {
        #expect(
            escaped([0x61, 0xFF, 0xC3, 0x62, 0xED, 0xA0, 0x80]).hasPrefix(
                "a\u{FFFD}\u{FFFD}b\u{FFFD}"))
    }

    @Test(arguments: ["x", "é", "🙂", "\u{1}", "\""])
    func `H207 cuts a value at one kibibyte, between characters`(character: String) {
        let long = escaped(Array(String(repeating: character, count: 2000).utf8))
        #expect(long.utf8.count <= 1024)
        #expect(long.utf8.count > 1024 - 12)
        #expect(long.hasSuffix("…"))
        #expect(!long.contains("\u{FFFD}"))
    }

    private func escaped(_ bytes: [UInt8]) -> String {
        var line: [UInt8] = []
        LogEscape.append(bytes, to: &line)
        return String(decoding: line, as: UTF8.self)
    }

    private func text(_ line: LogLine) -> String { String(decoding: line.bytes, as: UTF8.self) }
}

@Suite struct `Secrets in the log` {
    @Test(arguments: [
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer …"),
        ("BASIC dXNlcjpwYXNz rest", "BASIC … rest"),
        ("GET /apps/a?token=abc HTTP/1.1", "GET /apps/a?… HTTP/1.1"),
        ("PUT /uploads/0123456789abcdef HTTP/1.1", "PUT /uploads/012345… HTTP/1.1"),
        ("see https://x/download/short?sig=1", "see https://x/download/short?…"),
        ("ready? yes", "ready? yes"),
        ("bearer of news", "bearer … news"),
    ]) func `H208 are cut out of texts`(text: String, expected: String) {
        #expect(Redaction.filtered(text) == expected)
    }

    @Test(arguments: ["Authorization", "token", "Set-Cookie", "nonce"])
    func `H208 are hidden by the name of their field`(name: String) {
        #expect(Redaction.hides(name))
        #expect(!Redaction.hides("application"))
    }
}
