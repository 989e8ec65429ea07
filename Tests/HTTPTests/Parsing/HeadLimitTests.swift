import HTTP
import Testing

@Suite struct `Limits of a head` {
    @Test func `a request line of 8,192 bytes passes and one more does not (H21)`() {
        let line = { (count: Int) in
            "GET /" + String(repeating: "a", count: count - 14) + " HTTP/1.1"
        }
        #expect(ParseResult(utf8Bytes(request(line(8192)))).head != nil)
        #expect(ParseResult(utf8Bytes(request(line(8193)))).status == 414)
        expectSameResultForEverySplit(
            utf8Bytes(request(line(8193))).prefix(8400).map { byte in byte })
    }

    @Test func `a request line is refused before it ends (H21)`() {
        let endless = utf8Bytes("GET /" + String(repeating: "a", count: 8188))
        #expect(ParseResult(endless).status == 414)
        #expect(ParseResult(endless.dropLast()) == .incomplete)
    }

    @Test func `a method of 25 bytes is refused at once (H12, H21)`() {
        #expect(ParseResult(utf8Bytes(String(repeating: "A", count: 24))) == .incomplete)
        #expect(ParseResult(utf8Bytes(String(repeating: "A", count: 25))).status == 501)
    }

    @Test func `a field line of 16,384 bytes passes and one more is refused before it ends (H55)`()
    {
        let start = "GET / HTTP/1.1\r\nHost: h\r\n"
        let line = { (count: Int) in "A: " + String(repeating: "b", count: count - 3) }
        #expect(ParseResult(utf8Bytes(start + line(16_384) + "\r\n\r\n")).head != nil)
        #expect(ParseResult(utf8Bytes(start + line(16_385) + "\r\n\r\n")).status == 431)
        #expect(ParseResult(utf8Bytes(start + line(16_385))).status == 431)
        #expect(ParseResult(utf8Bytes(start + String(repeating: "N", count: 16_385))).status == 431)
        #expect(
            ParseResult(utf8Bytes(start + "A:" + String(repeating: " ", count: 16_385))).status
                == 431)
    }

    @Test func `a header section of 32,768 bytes passes and one more is refused (H55)`() {
        let start = "GET / HTTP/1.1\r\n"
        let section = { (count: Int) in
            let lines = "Host: h\r\nA: " + String(repeating: "a", count: 16_000) + "\r\n"
            return lines + "B: " + String(repeating: "b", count: count - lines.utf8.count - 5)
                + "\r\n"
        }
        var limits = HeadLimits()
        limits.fieldLine = 32_000
        #expect(
            ParseResult(utf8Bytes(start + section(32_768) + "\r\n"), limits: limits).head != nil)
        #expect(
            ParseResult(utf8Bytes(start + section(32_769) + "\r\n"), limits: limits).status == 431)
    }

    @Test func `a hundred fields pass and one more is refused at its first byte (H55)`() {
        let lines = { (count: Int) in
            "GET / HTTP/1.1\r\nHost: h\r\n"
                + (1..<count).map { number in "F\(number): v\r\n" }.joined()
        }
        #expect(ParseResult(utf8Bytes(lines(100) + "\r\n")).head?.fields.count == 100)
        #expect(ParseResult(utf8Bytes(lines(100) + "X")).status == 431)
    }

    @Test func `limits apply to each request separately (H56)`() {
        var parser = RequestParser()
        let head = utf8Bytes(get() + "")
        let outcomes = (0..<300).map { _ in
            parser.reset()
            return ParseResult(parser.parse(head.span)).head != nil
        }
        #expect(outcomes.allSatisfy { isHead in isHead })
    }

    @Test func `one head is read at a time, whatever follows it (H4)`() {
        let message = utf8Bytes(get("A: b"))
        let more = message + [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        let result = ParseResult(more)
        #expect(result.count == message.count)
        #expect(result.head?.fields == ["Host: h", "A: b"])
    }

    @Test func `a hundred fields of one name are found one after another (H188)`() {
        let lines = String(repeating: "A: b\r\n", count: 99)
        let message = utf8Bytes("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n")
        var parser = RequestParser()
        guard case .head(let head, _) = parser.parse(message.span) else {
            Issue.record("a hundred fields are not too many")
            return
        }
        #expect(head.fields.values("a").count == 99)
        #expect(head.fields.contains("b") == false)
    }
}

@Suite struct `Numbers on the wire` {
    /// Texts that a general conversion would accept as 5 or as a similar number.
    static let lookalikes = [
        "+5", "-5", "5_0", "0x5", "5.0", "5e0", " 5", "5 5", "\u{665}", "\u{FF15}", "5\u{0}", "",
        "9223372036854775808", "18446744073709551621", "99999999999999999999",
    ]

    @Test(arguments: lookalikes.filter { text in text != " 5" })
    func `a length is digits and nothing else (H2, H43)`(text: String) {
        #expect(ParseResult(utf8Bytes(get("Content-Length: \(text)"))).status == 400)
    }

    @Test(arguments: lookalikes.filter { text in !text.isEmpty })
    func `a port is digits and nothing else (H2, H35)`(text: String) {
        let message = "GET / HTTP/1.1\r\nHost: h:\(text)\r\n\r\n"
        #expect(ParseResult(utf8Bytes(message)).status == 400)
    }

    @Test(arguments: ["+1", "-1", " 1", "\u{661}", "1 ", "11"])
    func `a version is digits and nothing else (H2, H13)`(text: String) {
        #expect(ParseResult(utf8Bytes(request("GET / HTTP/1.\(text)"))).status == 400)
    }

    @Test func `leading zeros are ignored (H2, H43)`() {
        #expect(
            ParseResult(utf8Bytes(get("Content-Length: 0000000000000000005"))).head?.framing
                == .length(5))
        #expect(Int64(decimal: "0000000000000000005".utf8) == 5)
        #expect(Int64(decimal: "00000000000000000005".utf8) == nil)
    }
}
