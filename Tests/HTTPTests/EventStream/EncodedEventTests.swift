import TestSupport
import Testing

@testable import HTTP

@Suite struct `Events as they are written` {
    @Test(arguments: [
        ("", "data: \n\n"), ("one", "data: one\n\n"), ("a\nb", "data: a\ndata: b\n\n"),
        ("a\rb", "data: a\ndata: b\n\n"), ("a\r\nb", "data: a\ndata: b\n\n"),
        ("a\n\rb", "data: a\ndata: \ndata: b\n\n"), ("a\r\r\nb", "data: a\ndata: \ndata: b\n\n"),
        ("a\n", "data: a\ndata: \n\n"), ("\u{E9}\u{2028}", "data: \u{E9}\u{2028}\n\n"),
        ("x\n\nevent: evil\nid: 9", "data: x\ndata: \ndata: event: evil\ndata: id: 9\n\n"),
    ])
    func `data is split at every end of line and begins no other field (H152)`(
        data: String, wire: String
    ) throws {
        #expect(try wireText(#require(EncodedEvent(data: data))) == wire)
    }

    @Test func `name and id stand before the data (H152)`() throws {
        let event = try #require(EncodedEvent(data: "d", name: "added", id: "7"))
        #expect(wireText(event) == "event: added\nid: 7\ndata: d\n\n")
    }

    @Test(arguments: ["a\nb", "a\rb", "a\r\nb", "\n"])
    func `neither name nor id can begin a line (H152)`(text: String) {
        #expect(EncodedEvent(data: "d", name: text) == nil)
        #expect(EncodedEvent(data: "d", id: text) == nil)
    }

    @Test func `an id has no NUL and at most 256 octets (H152, H154)`() {
        #expect(EncodedEvent(data: "d", id: "a\0") == nil)
        #expect(EncodedEvent(data: "d", id: String(repeating: "a", count: 256)) != nil)
        #expect(EncodedEvent(data: "d", id: String(repeating: "a", count: 257)) == nil)
    }

    @Test func `retry is digits (H153)`() {
        #expect(wireText(.greeting(retry: 3000, at: nil)) == ":\nretry: 3000\n\n")
    }

    @Test(arguments: 0..<200)
    func `whatever the data is, a reader gets it back line by line (H152)`(case number: UInt64)
        throws
    {
        var any = Generator(number)
        let data = String(
            (0..<any.number(0...40)).map { _ in
                any.one(of: ["a", ":", " ", "\r", "\n", "\r\n", "id", "data: ", "\u{20AC}"])
            }.joined())
        let event = try #require(EncodedEvent(data: data, id: "1"))
        #expect(read(event.octets) == lines(of: data))
    }

    /// The lines of some data, as HTML §9.2.6 ends lines.
    private func lines(of data: String) -> [String] {
        var octets = Array(data.utf8)[...]
        var lines: [[UInt8]] = [[]]
        while let octet = octets.popFirst() {
            if octet == 13, octets.first == 10 { octets.removeFirst() }
            if octet == 13 || octet == 10 {
                lines.append([])
            } else {
                lines[lines.count - 1].append(octet)
            }
        }
        return lines.map { line in String(decoding: line, as: UTF8.self) }
    }

    /// The data of the only event of a stream, as a client of HTML §9.2.6 reads it.
    private func read(_ octets: [UInt8]) -> [String] {
        let text = octets.split(separator: 10, omittingEmptySubsequences: false)
            .map { line in String(decoding: line, as: UTF8.self) }
        #expect(text.suffix(2) == ["", ""])
        #expect(text.first == "id: 1")
        return text.dropFirst().dropLast(2).map { line in
            #expect(line.hasPrefix("data: "))
            return String(line.dropFirst(6))
        }
    }

    private func wireText(_ event: EncodedEvent) -> String {
        String(decoding: event.octets, as: UTF8.self)
    }
}
