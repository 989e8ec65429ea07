import HTTP
import Testing

@Suite struct `Limits of a head` {
    @Test func `a request line of 8,192 octets passes and one more does not (H21)`() {
        let line = { (count: Int) in
            "GET /" + String(repeating: "a", count: count - 14) + " HTTP/1.1"
        }
        #expect(Verdict(octets(request(line(8192)))).head != nil)
        #expect(Verdict(octets(request(line(8193)))).status == 414)
        expectSameVerdictForEverySplit(
            octets(request(line(8193))).prefix(8400).map { octet in octet })
    }

    @Test func `a request line is refused before it ends (H21)`() {
        let endless = octets("GET /" + String(repeating: "a", count: 8188))
        #expect(Verdict(endless).status == 414)
        #expect(Verdict(endless.dropLast()) == .incomplete)
    }

    @Test func `a method of 25 octets is refused at once (H12, H21)`() {
        #expect(Verdict(octets(String(repeating: "A", count: 24))) == .incomplete)
        #expect(Verdict(octets(String(repeating: "A", count: 25))).status == 501)
    }

    @Test func `a field line of 16,384 octets passes and one more is refused before it ends (H55)`()
    {
        let start = "GET / HTTP/1.1\r\nHost: h\r\n"
        let line = { (count: Int) in "A: " + String(repeating: "b", count: count - 3) }
        #expect(Verdict(octets(start + line(16_384) + "\r\n\r\n")).head != nil)
        #expect(Verdict(octets(start + line(16_385) + "\r\n\r\n")).status == 431)
        #expect(Verdict(octets(start + line(16_385))).status == 431)
        #expect(Verdict(octets(start + String(repeating: "N", count: 16_385))).status == 431)
        #expect(Verdict(octets(start + "A:" + String(repeating: " ", count: 16_385))).status == 431)
    }

    @Test func `a header section of 32,768 octets passes and one more is refused (H55)`() {
        let start = "GET / HTTP/1.1\r\n"
        let section = { (count: Int) in
            let lines = "Host: h\r\nA: " + String(repeating: "a", count: 16_000) + "\r\n"
            return lines + "B: " + String(repeating: "b", count: count - lines.utf8.count - 5)
                + "\r\n"
        }
        var limits = HeadLimits()
        limits.fieldLine = 32_000
        #expect(Verdict(octets(start + section(32_768) + "\r\n"), limits: limits).head != nil)
        #expect(Verdict(octets(start + section(32_769) + "\r\n"), limits: limits).status == 431)
    }

    @Test func `a hundred fields pass and one more is refused at its first octet (H55)`() {
        let lines = { (count: Int) in
            "GET / HTTP/1.1\r\nHost: h\r\n"
                + (1..<count).map { number in "F\(number): v\r\n" }.joined()
        }
        #expect(Verdict(octets(lines(100) + "\r\n")).head?.fields.count == 100)
        #expect(Verdict(octets(lines(100) + "X")).status == 431)
    }

    @Test func `limits start anew for each request (H56)`() {
        var parser = RequestParser()
        let head = octets(get() + "")
        let outcomes = (0..<300).map { _ in
            parser.reset()
            return Verdict(parser.parse(head.span)).head != nil
        }
        #expect(outcomes.allSatisfy { isHead in isHead })
    }

    @Test func `one head is read at a time, whatever comes behind it (H4)`() {
        let message = octets(get("A: b"))
        let more = message + [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        let verdict = Verdict(more)
        #expect(verdict.count == message.count)
        #expect(verdict.head?.fields == ["Host: h", "A: b"])
    }

    @Test func `a hundred fields of one name are found one after another (H188)`() {
        let lines = String(repeating: "A: b\r\n", count: 99)
        let message = octets("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n")
        var parser = RequestParser()
        guard case .head(let head, _) = parser.parse(message.span) else {
            Issue.record("a hundred fields are not too many")
            return
        }
        #expect(head.fields.values("a").count == 99)
        #expect(head.fields.contains("b") == false)
    }
}
