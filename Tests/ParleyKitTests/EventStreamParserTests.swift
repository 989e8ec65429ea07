import Testing

@testable import ParleyKit

@Suite struct EventStreamParserTests {
    private static let stream = """
        : a comment\r\n\r\nevent: item\r\nid: a.1\r\ndata: {"x":\r\ndata: 1}\r\n\r\n\
        id: a.2\ndata:two\n\nevent: ready\rid: a.3\rdata: {}\r\rretry: 5\n\nunknown\n: end\n\n
        """

    private static let events = [
        ServerSentEvent(type: "item", data: Array("{\"x\":\n1}".utf8), id: "a.1"),
        ServerSentEvent(type: "message", data: Array("two".utf8), id: "a.2"),
        ServerSentEvent(type: "ready", data: Array("{}".utf8), id: "a.3"),
    ]

    @Test func `events are the same wherever the stream is cut`() throws {
        let bytes = Array(Self.stream.utf8)
        for first in bytes.indices {
            for second in stride(from: first, to: bytes.count, by: 7) {
                var parser = EventStreamParser()
                var events = try parser.parse(Array(bytes[..<first]))
                events += try parser.parse(Array(bytes[first..<second]))
                events += try parser.parse(Array(bytes[second...]))
                #expect(events == Self.events, "cut at \(first) and \(second)")
            }
        }
    }

    @Test func `one byte at a time gives the same events`() throws {
        var parser = EventStreamParser()
        var events: [ServerSentEvent] = []
        for byte in Self.stream.utf8 { events += try parser.parse([byte]) }
        #expect(events == Self.events)
    }

    @Test func `an event without data is none`() throws {
        var parser = EventStreamParser()
        #expect(try parser.parse(Array("event: item\nid: 1\n\n".utf8)) == [])
    }
}
