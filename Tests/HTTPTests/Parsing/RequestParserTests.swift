import HTTP
import Testing

@Suite struct `Reading a request head` {
    @Test(arguments: RefusedHeads.all)
    func `a malformed head is refused, wherever it is cut (H3, H7–H43)`(case example: HeadCase) {
        let message = octets(example.message)
        #expect(Verdict(message).status == example.status)
        expectSameVerdictForEverySplit(message)
    }

    @Test(arguments: AcceptedHeads.all)
    func `a legal head is accepted, wherever it is cut (H3)`(case example: HeadCase) {
        let message = octets(example.message)
        #expect(Verdict(message).count == message.count)
        expectSameVerdictForEverySplit(message)
    }

    @Test(arguments: AcceptedHeads.all)
    func `the next octet behind a head belongs to what follows (H52)`(case example: HeadCase) {
        let message = octets(example.message)
        #expect(Verdict(message + octets("GET /next")).count == message.count)
    }

    @Test(arguments: AcceptedHeads.all)
    func `a head that is not complete is waited for (H3)`(case example: HeadCase) {
        let message = octets(example.message)
        let early = (0..<message.count).filter { count in
            Verdict(Array(message[..<count])) != .incomplete
        }
        #expect(early.isEmpty)
    }

    @Test func `a method outside the list is no fault of the head (H12)`() {
        #expect(Verdict(octets(request("get / HTTP/1.1"))).head?.method == nil)
        #expect(Verdict(octets(request("TRACE / HTTP/1.1"))).head?.persists == true)
    }

    @Test func `the authority of an absolute target leaves the path (H16)`() {
        let head = Verdict(octets(request("GET http://other:80/a/b?c=d HTTP/1.1"))).head
        #expect(head?.path == "/a/b")
        #expect(head?.query == "c=d")
        #expect(Verdict(octets(request("GET http://h HTTP/1.1"))).head?.path == "/")
        #expect(Verdict(octets(request("GET http://h?q HTTP/1.1"))).head?.path == "/")
    }

    @Test func `values lose their blanks at the ends and nothing else (H1, H25)`() {
        let head = Verdict(octets(get("A: \t b c\u{85} \t", "B: \u{A0}d\u{A0}"))).head
        #expect(head?.fields.dropFirst() == ["A: b c\u{85}", "B: \u{A0}d\u{A0}"])
    }

    @Test func `fields keep their order and their names (H27, H28)`() {
        let head = Verdict(octets(get("A_b: 1", "A-b: 2", "a-B: 3"))).head
        #expect(head?.fields == ["Host: h", "A_b: 1", "A-b: 2", "a-B: 3"])
    }

    @Test func `what Connection names is not shown, and Host and its like stay (H31)`() {
        let head = Verdict(
            octets(
                get(
                    "Connection: x-a , HOST,, authorization", "X-A: 1", "X-B: 2", "Authorization: z"
                ))
        ).head
        #expect(head?.fields.contains("X-A: 1") == false)
        #expect(head?.fields.contains("X-B: 2") == true)
        #expect(head?.fields.contains("Host: h") == true)
        #expect(head?.fields.contains("Authorization: z") == true)
    }

    @Test func `naming a length in Connection does not unframe the body (H31)`() {
        let head = Verdict(octets(get("Connection: content-length", "Content-Length: 5"))).head
        #expect(head?.framing == .length(5))
        #expect(head?.fields.contains("Content-Length: 5") == true)
    }

    @Test func `one decision frames the body, for every method (H40, H45)`() {
        let framing = { (message: String) in Verdict(octets(message)).head?.framing }
        #expect(framing(get()) == BodyFraming.none)
        #expect(framing(request("POST / HTTP/1.1")) == BodyFraming.none)
        #expect(framing(get("Content-Length: 5")) == .length(5))
        #expect(framing(get("Content-Length: 007")) == .length(7))
        #expect(framing(get("Content-Length: 9223372036854775807")) == .length(.max))
        #expect(framing(get("Transfer-Encoding: Chunked")) == .chunked)
        #expect(framing(get("Content-Type: multipart/form-data; boundary=x")) == BodyFraming.none)
    }

    @Test func `only HTTP/1.0 leaves Host out, and says when it stays (H36, H78, H79)`() {
        let persists = { (message: String) in Verdict(octets(message)).head?.persists }
        #expect(persists("GET / HTTP/1.0\r\n\r\n") == false)
        #expect(persists("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n") == true)
        #expect(persists("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n") == false)
        #expect(persists(get()) == true)
        #expect(persists(get("Connection: CLOSE")) == false)
        #expect(persists(get("Connection: a, b", "Connection: x,close")) == false)
        #expect(persists(get("Connection: closed")) == true)
        #expect(persists(get("Proxy-Connection: close", "Keep-Alive: max=1")) == true)
    }

    @Test func `100 is expected only in HTTP/1.1 and with a body to come (H73, H74)`() {
        let expects = { (message: String) in Verdict(octets(message)).head?.expectsContinue }
        #expect(expects(get("Expect: 100-CONTINUE", "Content-Length: 1")) == true)
        #expect(expects(get("Expect: 100-continue", "Transfer-Encoding: chunked")) == true)
        #expect(expects(get("Expect: 100-continue", "Content-Length: 0")) == false)
        #expect(expects(get("Expect: 100-continue")) == false)
        #expect(
            expects("GET / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n") == false)
    }

    @Test func `a host outside the list is misdirected, and the head stays usable (H37)`() {
        var limits = HeadLimits()
        limits.allowedHosts = ["example.com", "[::1]"]
        let objection = { (host: String, target: String) in
            Verdict(octets("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n"), limits: limits).head?
                .objection
        }
        #expect(objection("Example.COM:8080", "/") == nil)
        #expect(objection("example.com.", "/") == nil)
        #expect(objection("[::1]:80", "/") == nil)
        #expect(objection("example.com.evil", "/") == "H37")
        #expect(objection("evil", "http://example.com/") == nil)
        #expect(objection("example.com", "http://evil/") == "H37")
    }

    @Test func `more than 64 cookies or ranges are refused, and the head stays usable (H57)`() {
        let many = { (name: String, count: Int, separator: String) in
            let value = (0..<count).map { number in "a=\(number)" }.joined(separator: separator)
            return Verdict(octets(get("\(name): \(value)"))).head?.objection
        }
        #expect(many("Cookie", 64, "; ") == nil)
        #expect(many("Cookie", 65, "; ") == "H57")
        #expect(many("Accept", 64, ",") == nil)
        #expect(many("Accept-Language", 65, ",") == "H57")
    }

    @Test func `a parser that was reset knows nothing of the head before (H56)`() {
        var parser = RequestParser()
        let first = octets(get("A: 1"))
        let second = octets(request("POST /x HTTP/1.0"))
        _ = parser.parse(first.span)
        parser.reset()
        #expect(!parser.hasBegun)
        #expect(Verdict(parser.parse(second.span)) == Verdict(second))
    }
}

extension Verdict {
    var status: Int? {
        if case .refused(let status, _) = self { status } else { nil }
    }

    var count: Int? {
        if case .head(_, let count) = self { count } else { nil }
    }
}
