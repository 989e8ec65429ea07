import TestSupport
import Testing

@testable import HTTP

@Suite struct `Encoded events` {
    @Test(arguments: [
        ("", "data: \n\n"), ("one", "data: one\n\n"), ("a\nb", "data: a\ndata: b\n\n"),
        ("a\rb", "data: a\ndata: b\n\n"), ("a\r\nb", "data: a\ndata: b\n\n"),
        ("a\n\rb", "data: a\ndata: \ndata: b\n\n"), ("a\r\r\nb", "data: a\ndata: \ndata: b\n\n"),
        ("a\n", "data: a\ndata: \n\n"), ("\u{E9}\u{2028}", "data: \u{E9}\u{2028}\n\n"),
        ("x\n\nevent: evil\nid: 9", "data: x\ndata: \ndata: event: evil\ndata: id: 9\n\n"),
    ])
    func `data is split at every line end and starts no other field (H152)`(
        data: String, wire: String
    ) throws {
        #expect(try wireText(#require(EncodedEvent(data: data))) == wire)
    }

    @Test func `name and id precede the data (H152)`() throws {
        let event = try #require(EncodedEvent(data: "d", name: "added", id: "7"))
        #expect(wireText(event) == "event: added\nid: 7\ndata: d\n\n")
    }

    @Test(arguments: ["a\nb", "a\rb", "a\r\nb", "\n"])
    func `neither name nor id can start a line (H152)`(text: String) {
        #expect(EncodedEvent(data: "d", name: text) == nil)
        #expect(EncodedEvent(data: "d", id: text) == nil)
    }

    @Test func `an id has no NUL and at most 256 bytes (H152, H154)`() {
        #expect(EncodedEvent(data: "d", id: "a\0") == nil)
        #expect(EncodedEvent(data: "d", id: String(repeating: "a", count: 256)) != nil)
        #expect(EncodedEvent(data: "d", id: String(repeating: "a", count: 257)) == nil)
    }

    @Test func `retry is digits (H153)`() {
        #expect(wireText(.preamble(retry: 3000, at: nil)) == ":\nretry: 3000\n\n")
    }

    @Test(arguments: 0..<200)
    func `any data is read back line by line (H152)`(case number: UInt64)
        throws
    {
        var random = SeededGenerator(number)
        let data = String(
            (0..<random.number(0...40)).map { _ in
                random.one(of: ["a", ":", " ", "\r", "\n", "\r\n", "id", "data: ", "\u{20AC}"])
            }.joined())
        let event = try #require(EncodedEvent(data: data, id: "1"))
        #expect(read(event.bytes) == lines(of: data))
    }

    /// The lines of some data, with the line ends of HTML §9.2.6.
    private func lines(of data: String) -> [String] {
        var bytes = Array(data.utf8)[...]
        var lines: [[UInt8]] = [[]]
        while let byte = bytes.popFirst() {
            if byte == 13, bytes.first == 10 { bytes.removeFirst() }
            if byte == 13 || byte == 10 {
                lines.append([])
            } else {
                lines[lines.count - 1].append(byte)
            }
        }
        return lines.map { line in String(decoding: line, as: UTF8.self) }
    }

    /// The data of the only event of a stream, parsed as by a client (HTML §9.2.6).
    private func read(_ bytes: [UInt8]) -> [String] {
        let text = bytes.split(separator: 10, omittingEmptySubsequences: false)
            .map { line in String(decoding: line, as: UTF8.self) }
        #expect(text.suffix(2) == ["", ""])
        #expect(text.first == "id: 1")
        return text.dropFirst().dropLast(2).map { line in
            #expect(line.hasPrefix("data: "))
            return String(line.dropFirst(6))
        }
    }

    private func wireText(_ event: EncodedEvent) -> String {
        String(decoding: event.bytes, as: UTF8.self)
    }
}

@Suite struct `The last event id` {
    @Test func `is read from the header, or from the query where a route allows it (H154)`() throws
    {
        #expect(try LastEventID.read(request(header: "42")) == "42")
        #expect(try LastEventID.read(request(query: "since=7")) == nil)
        #expect(try LastEventID.read(request(query: "since=7"), parameter: "since") == "7")
        #expect(
            try LastEventID.read(request(header: "42", query: "since=7"), parameter: "since")
                == "42")
        #expect(try LastEventID.read(request(header: ""), parameter: "since") == nil)
        #expect(try LastEventID.read(request(query: "since="), parameter: "since") == nil)
    }

    @Test func `has at most 256 bytes (H154)`() throws {
        let long = String(repeating: "a", count: 256)
        #expect(try LastEventID.read(request(header: long)) == long)
        #expect(throws: Refusal.self) { try LastEventID.read(request(header: long + "a")) }
        #expect(throws: Refusal.self) {
            try LastEventID.read(request(query: "since=\(long)a"), parameter: "since")
        }
    }

    @Test(arguments: ["since=a%0Ab", "since=a%0Db", "since=a%00b", "since=%FF"])
    func `contains nothing that could start a line (H152, H154)`(query: String) {
        #expect(throws: Refusal.self) {
            try LastEventID.read(request(query: query), parameter: "since")
        }
    }

    @Test func `must not be repeated and must be text (H154)`() {
        let twice = Fields([("Last-Event-ID", "1"), ("last-event-id", "2")])
        #expect(throws: Refusal.self) {
            try LastEventID.read(Request(method: .get, target: RequestTarget("/"), fields: twice))
        }
        var parser = RequestParser()
        let message = utf8Bytes(get("Last-Event-ID: \u{FF}"))
        guard case .head(let head, _) = parser.parse(message.span) else {
            Issue.record("refused")
            return
        }
        #expect(throws: Refusal.self) {
            try LastEventID.read(Request(method: .get, target: head.target, fields: head.fields))
        }
    }

    private func request(header: String? = nil, query: String? = nil) -> Request {
        Request(
            method: .get, target: RequestTarget("/sse" + (query.map { "?\($0)" } ?? "")),
            fields: Fields(header.map { [(name: "Last-Event-ID", value: $0)] } ?? []))
    }
}
