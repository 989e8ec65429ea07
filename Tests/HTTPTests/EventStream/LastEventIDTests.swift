import Testing

@testable import HTTP

@Suite struct `The last event id` {
    @Test func `comes from the header, or from the query where a route offers that (H154)`() throws
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

    @Test func `has at most 256 octets (H154)`() throws {
        let long = String(repeating: "a", count: 256)
        #expect(try LastEventID.read(request(header: long)) == long)
        #expect(throws: Refusal.self) { try LastEventID.read(request(header: long + "a")) }
        #expect(throws: Refusal.self) {
            try LastEventID.read(request(query: "since=\(long)a"), parameter: "since")
        }
    }

    @Test(arguments: ["since=a%0Ab", "since=a%0Db", "since=a%00b", "since=%FF"])
    func `holds nothing that could begin a line (H152, H154)`(query: String) {
        #expect(throws: Refusal.self) {
            try LastEventID.read(request(query: query), parameter: "since")
        }
    }

    @Test func `stands once and is text (H154)`() {
        let twice = Fields([("Last-Event-ID", "1"), ("last-event-id", "2")])
        #expect(throws: Refusal.self) {
            try LastEventID.read(Request(method: .get, target: RequestTarget("/"), fields: twice))
        }
        var parser = RequestParser()
        let message = octets(get("Last-Event-ID: \u{FF}"))
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
