import HTTP
import Testing

@Suite struct `The head of a response` {
    @Test func `every response has status, date, id and length (H88, H91, H93, H94, H205)`() {
        let head = written(Response(.ok, "text/plain", utf8Bytes("hello")))
        #expect(
            head == """
                HTTP/1.1 200 OK\r
                Date: Sun, 06 Nov 1994 08:49:37 GMT\r
                X-Request-Id: 00000000000000000000000000\r
                X-Content-Type-Options: nosniff\r
                Content-Type: text/plain\r
                Content-Length: 5\r
                \r

                """)
    }

    @Test(
        arguments: [
            (Response(.noContent), nil), (Response(.notModified, content: .bytes([1])), nil),
            (Response(Status(103, "Early Hints")), nil),
            (Response(Status(205, "Reset Content")), "0"),
            (Response(.ok), "0"), (Response(.notFound, content: .bytes([1, 2, 3])), "3"),
            (Response(.ok, content: .parts([.bytes([1]), .none, .bytes([2, 3])])), "3"),
        ] as [(Response, String?)])
    func `a length is sent exactly where content is allowed (H88, H89)`(
        response: Response, length: String?
    ) {
        #expect(field("Content-Length", of: written(response)) == length)
        #expect(field("Transfer-Encoding", of: written(response)) == nil)
    }

    @Test func `HEAD gets the length of GET, unless it is withheld (H68)`() {
        let get = Response(.ok, content: .bytes([1, 2, 3]))
        #expect(field("Content-Length", of: written(get, answersHead: true)) == "3")
        let stream = Response(.ok, content: .withheld)
        #expect(field("Content-Length", of: written(stream, answersHead: true)) == nil)
    }

    @Test func `the connection option is sent once (H78, H79)`() {
        #expect(field("Connection", of: written(Response(.ok))) == nil)
        #expect(field("Connection", of: written(Response(.ok), closes: true)) == "close")
        #expect(field("Connection", of: written(Response(.ok), isHTTP10: true)) == "keep-alive")
        #expect(
            field("Connection", of: written(Response(.ok), closes: true, isHTTP10: true))
                == "close")
    }

    @Test func `a stream is chunked, but not for HTTP 1.0 and not for HEAD (H68, H88, H90)`() {
        let response = Response(.ok, content: .stream(IdleHandler()))
        #expect(field("Transfer-Encoding", of: written(response)) == "chunked")
        for head in [
            written(response), written(response, closes: true, isHTTP10: true),
            written(response, answersHead: true),
        ] { #expect(field("Content-Length", of: head) == nil) }
        let toHEAD = written(response, answersHead: true)
        #expect(field("Transfer-Encoding", of: toHEAD) == nil)
        let toOld = written(response, closes: true, isHTTP10: true)
        #expect(field("Transfer-Encoding", of: toOld) == nil)
        #expect(field("Connection", of: toOld) == "close")
    }

    @Test(arguments: [false, true])
    func `101 names the protocol and has neither length nor coding (H130)`(closes: Bool) {
        let head = written(Response(Upgrade(to: "test", handler: IdleHandler())), closes: closes)
        #expect(head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(field("Upgrade", of: head) == "test")
        #expect(field("Connection", of: head) == "Upgrade")
        #expect(field("Content-Length", of: head) == nil)
        #expect(field("Transfer-Encoding", of: head) == nil)
    }

    @Test func `426 offers the protocol (H128)`() {
        let refused = Response(Status(426, "Upgrade Required"))
        #expect(field("Connection", of: written(refused)) == "Upgrade")
        #expect(field("Connection", of: written(refused, closes: true)) == "Upgrade, close")
    }

    @Test(arguments: ["a\r\nb", "\n", "\r", "\u{0}", "a\u{1}", "\u{7F}", "\u{1B}[0m"])
    func `a control character in a value makes the response invalid (H32)`(value: String) {
        var fields = ResponseFields()
        fields.add("X", "fine")
        #expect(fields.isValid)
        fields.add("X", value)
        #expect(!fields.isValid)
    }

    @Test(arguments: ["", "a b\tc", "ü", "a,b;c=\"d\""])
    func `valid values are accepted (H25, H32)`(value: String) {
        var fields = ResponseFields()
        fields.add("X-Y", value)
        #expect(fields.isValid)
        #expect(fields["x-y"] == value)
    }

    @Test func `statuses define whether content is allowed (H89)`() {
        #expect(!Status(100, "Continue").allowsContent)
        #expect(!Status.noContent.allowsContent)
        #expect(!Status.notModified.allowsContent)
        #expect(Status.ok.allowsContent)
        #expect(Status(200, "Fine") == .ok)
    }
}

/// A stream without content.
private final class IdleHandler: ByteChannelHandler {
    func opened(_ line: any ByteChannel) {}
    func stopping() {}
    func closed() {}
}

private func written(
    _ response: Response, answersHead: Bool = false, closes: Bool = false, isHTTP10: Bool = false
) -> String {
    var buffer: [UInt8] = []
    ResponseHead.append(
        response,
        .init(
            dateLine: utf8Bytes("Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"),
            id: RequestID(high: 0, low: 0),
            answersHead: answersHead, closes: closes, isHTTP10: isHTTP10),
        to: &buffer)
    return String(decoding: buffer, as: UTF8.self)
}

private func field(_ name: String, of head: String) -> String? {
    head.split(separator: "\r\n").first { line in line.hasPrefix(name + ": ") }
        .map { line in String(line.dropFirst(name.count + 2)) }
}

@Suite struct `Chunk framing` {
    @Test(arguments: [1, 9, 10, 15, 16, 255, 256, 65_535, 65_536])
    func `framed content is decoded unchanged (H46, H88)`(count: Int) throws {
        let content = (0..<count).map { number in UInt8(truncatingIfNeeded: number) }
        let wire =
            ChunkFraming.head(count) + content + ChunkFraming.end + ChunkFraming.head(1) + [7]
            + ChunkFraming.end + ChunkFraming.last
        var decoder = BodyDecoder(.chunked, limit: 1 << 20)
        var read: [UInt8] = []
        var offset = 0
        decoding: while true {
            switch try decoder.step(wire.span.extracting(offset...)) {
            case .framing(let count): offset += count
            case .content(let count):
                read += wire[offset..<offset + count]
                offset += count
            case .needsInput, .end: break decoding
            }
        }
        #expect(read == content + [7])
        #expect(decoder.isComplete)
        #expect(offset == wire.count)
    }
}
