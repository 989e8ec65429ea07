import HTTP
import TestSupport
import Testing

@Suite struct `Reading a request head` {
    @Test(arguments: RefusedHeads.all)
    func `a malformed head is refused, however it is split (H3, H7–H43)`(case example: HeadCase) {
        let message = utf8Bytes(example.message)
        #expect(ParseResult(message).status == example.status)
        expectSameResultForEverySplit(message)
    }

    @Test(arguments: AcceptedHeads.all)
    func `a valid head is accepted, however it is split (H3)`(case example: HeadCase) {
        let message = utf8Bytes(example.message)
        #expect(ParseResult(message).count == message.count)
        expectSameResultForEverySplit(message)
    }

    @Test(arguments: AcceptedHeads.all)
    func `the byte after a head belongs to what follows (H52)`(case example: HeadCase) {
        let message = utf8Bytes(example.message)
        #expect(ParseResult(message + utf8Bytes("GET /next")).count == message.count)
    }

    @Test(arguments: AcceptedHeads.all)
    func `an incomplete head needs more input (H3)`(case example: HeadCase) {
        let message = utf8Bytes(example.message)
        let early = (0..<message.count).filter { count in
            ParseResult(Array(message[..<count])) != .incomplete
        }
        #expect(early.isEmpty)
    }

    @Test func `an unknown method is not an error of the head (H12)`() {
        #expect(ParseResult(utf8Bytes(request("get / HTTP/1.1"))).head?.method == nil)
        #expect(ParseResult(utf8Bytes(request("TRACE / HTTP/1.1"))).head?.persists == true)
    }

    @Test func `the authority of an absolute target is removed from the path (H16)`() {
        let head = ParseResult(utf8Bytes(request("GET http://other:80/a/b?c=d HTTP/1.1"))).head
        #expect(head?.path == "/a/b")
        #expect(head?.query == "c=d")
        #expect(ParseResult(utf8Bytes(request("GET http://h HTTP/1.1"))).head?.path == "/")
        #expect(ParseResult(utf8Bytes(request("GET http://h?q HTTP/1.1"))).head?.path == "/")
    }

    @Test func `only surrounding blanks are removed from values (H1, H25)`() {
        let head = ParseResult(utf8Bytes(get("A: \t b c\u{85} \t", "B: \u{A0}d\u{A0}"))).head
        #expect(head?.fields.dropFirst() == ["A: b c\u{85}", "B: \u{A0}d\u{A0}"])
    }

    @Test func `fields keep their order and their names (H27, H28)`() {
        let head = ParseResult(utf8Bytes(get("A_b: 1", "A-b: 2", "a-B: 3"))).head
        #expect(head?.fields == ["Host: h", "A_b: 1", "A-b: 2", "a-B: 3"])
    }

    @Test func `fields named by Connection are removed, but not Host and similar ones (H31)`() {
        let head = ParseResult(
            utf8Bytes(
                get(
                    "Connection: x-a , HOST,, authorization", "X-A: 1", "X-B: 2", "Authorization: z"
                ))
        ).head
        #expect(head?.fields.contains("X-A: 1") == false)
        #expect(head?.fields.contains("X-B: 2") == true)
        #expect(head?.fields.contains("Host: h") == true)
        #expect(head?.fields.contains("Authorization: z") == true)
    }

    @Test func `naming Content-Length in Connection does not change the framing (H31)`() {
        let head = ParseResult(utf8Bytes(get("Connection: content-length", "Content-Length: 5")))
            .head
        #expect(head?.framing == .length(5))
        #expect(head?.fields.contains("Content-Length: 5") == true)
    }

    @Test func `one decision frames the body, for every method (H40, H45)`() {
        let framing = { (message: String) in ParseResult(utf8Bytes(message)).head?.framing }
        #expect(framing(get()) == BodyFraming.none)
        #expect(framing(request("POST / HTTP/1.1")) == BodyFraming.none)
        #expect(framing(get("Content-Length: 5")) == .length(5))
        #expect(framing(get("Content-Length: 007")) == .length(7))
        #expect(framing(get("Content-Length: 9223372036854775807")) == .length(.max))
        #expect(framing(get("Transfer-Encoding: Chunked")) == .chunked)
        #expect(framing(get("Content-Type: multipart/form-data; boundary=x")) == BodyFraming.none)
    }

    @Test func `only HTTP/1.0 may omit Host, and must ask to keep the connection (H36, H78, H79)`()
    {
        let persists = { (message: String) in ParseResult(utf8Bytes(message)).head?.persists }
        #expect(persists("GET / HTTP/1.0\r\n\r\n") == false)
        #expect(persists("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n") == true)
        #expect(persists("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n") == false)
        #expect(persists(get()) == true)
        #expect(persists(get("Connection: CLOSE")) == false)
        #expect(persists(get("Connection: a, b", "Connection: x,close")) == false)
        #expect(persists(get("Connection: closed")) == true)
        #expect(persists(get("Proxy-Connection: close", "Keep-Alive: max=1")) == true)
    }

    @Test func `100-continue applies only in HTTP/1.1 and with a body (H73, H74)`() {
        let expects = { (message: String) in ParseResult(utf8Bytes(message)).head?.expectsContinue }
        #expect(expects(get("Expect: 100-CONTINUE", "Content-Length: 1")) == true)
        #expect(expects(get("Expect: 100-continue", "Transfer-Encoding: chunked")) == true)
        #expect(expects(get("Expect: 100-continue", "Content-Length: 0")) == false)
        #expect(expects(get("Expect: 100-continue")) == false)
        #expect(
            expects("GET / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n") == false)
    }

    @Test func `a host that is not allowed is misdirected, and the head stays usable (H37)`() {
        var limits = HeadLimits()
        limits.allowedHosts = ["example.com", "[::1]"]
        let recoverableRefusal = { (host: String, target: String) in
            ParseResult(
                utf8Bytes("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n"), limits: limits
            ).head?
            .recoverableRefusal
        }
        #expect(recoverableRefusal("Example.COM:8080", "/") == nil)
        #expect(recoverableRefusal("example.com.", "/") == nil)
        #expect(recoverableRefusal("[::1]:80", "/") == nil)
        #expect(recoverableRefusal("example.com.evil", "/") == "H37")
        #expect(recoverableRefusal("evil", "http://example.com/") == nil)
        #expect(recoverableRefusal("example.com", "http://evil/") == "H37")
    }

    @Test func `more than 64 cookies or ranges are refused, and the head stays usable (H57)`() {
        let many = { (name: String, count: Int, separator: String) in
            let value = (0..<count).map { number in "a=\(number)" }.joined(separator: separator)
            return ParseResult(utf8Bytes(get("\(name): \(value)"))).head?.recoverableRefusal
        }
        #expect(many("Cookie", 64, "; ") == nil)
        #expect(many("Cookie", 65, "; ") == "H57")
        #expect(many("Accept", 64, ",") == nil)
        #expect(many("Accept-Language", 65, ",") == "H57")
    }

    @Test func `a reset parser reads the next head as a new one reads it (H56)`() {
        var parser = RequestParser()
        let first = utf8Bytes(get("A: 1"))
        let second = utf8Bytes(request("POST /x HTTP/1.0"))
        _ = parser.parse(first.span)
        parser.reset()
        #expect(!parser.hasBegun)
        #expect(ParseResult(parser.parse(second.span)) == ParseResult(second))
    }
}

extension ParseResult {
    var status: Int? {
        if case .refused(let status, _) = self { status } else { nil }
    }

    var count: Int? {
        if case .head(_, let count) = self { count } else { nil }
    }
}

@Suite struct `Arbitrary bytes as a head` {
    private static let seeds = (AcceptedHeads.all + RefusedHeads.all).map { example in
        utf8Bytes(example.message)
    }

    @Test(arguments: 0..<400)
    func `mutations never trap, and every split gives the same result (H3, H191, H215)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        for _ in 0..<25 {
            let message = random.mutation(of: random.one(of: Self.seeds))
            let cuts = random.cuts(of: message.count)
            #expect(ParseResult(message, cuts: cuts) == ParseResult(message), "\(message)")
        }
    }

    @Test(arguments: 0..<200)
    func `an accepted head that is written again reads the same (H5, H215)`(case number: UInt64) {
        var random = SeededGenerator(number)
        for _ in 0..<25 {
            let message = random.mutation(of: utf8Bytes(random.one(of: AcceptedHeads.all).message))
            guard let head = ParseResult(message).head, let again = head.bytes else { continue }
            #expect(ParseResult(again).head == head, "\(message)")
        }
    }

    @Test(arguments: 0..<100)
    func `random bytes never trap (H191)`(case number: UInt64) {
        var random = SeededGenerator(number)
        let message = (0..<random.number(0...300)).map { _ in UInt8(random.number(0...255)) }
        #expect(ParseResult(message, cuts: random.cuts(of: message.count)) == ParseResult(message))
    }
}
