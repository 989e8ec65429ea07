import JSON
import Testing

@Suite struct `A JSON value` {
    @Test func `finds members by name and elements in order`() throws {
        let root = try read(#"{ "a": [1, "x", {"b": null}], "c": true, "\u0064": -7 }"#)
        #expect(root.count == 3)
        #expect(root["c"]?.bool == true)
        #expect(root["d"]?.integer == -7)
        #expect(root["e"] == nil)
        #expect(root["a"]?.elements.map(\.kind) == [.number, .string, .object])
        #expect(root.members.map(\.key) == ["a", "c", "d"])
        #expect(root["a"]?.elements.first { $0["b"]?.isNull == true } != nil)
    }

    @Test func `is nothing but what it is`() throws {
        let text = try read(#""1""#)
        #expect(text.string == "1")
        #expect(text.integer == nil)
        #expect(text.double == nil)
        #expect(text.bool == nil)
        #expect(text["1"] == nil)
        #expect(text.count == 0)
        #expect(Array(text.elements).isEmpty)
        #expect(Array(text.members).isEmpty)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9223372036854775808", nil), ("1.0", nil), ("1e2", nil), ("1.5", nil),
        ] as [(String, Int64?)])
    func `is an integer only when exact`(text: String, expected: Int64?) throws {
        #expect(try read(text).integer == expected)
    }

    @Test(
        arguments: [("1.5", 1.5), ("-2e3", -2000), ("7", 7), ("1e400", nil)] as [(String, Double?)])
    func `is a double within its range`(text: String, expected: Double?) throws {
        #expect(try read(text).double == expected)
    }

    @Test func `resolves escapes`() throws {
        let text = try read(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83D\uDE00""#)
        #expect(text.string == "\"\\/\u{8}\u{C}\n\r\tAé€😀")
        #expect(text.utf8.map(Array.init) == Array("\"\\/\u{8}\u{C}\n\r\tAé€😀".utf8))
    }

    @Test func `tells names apart by their bytes`() throws {
        let root = try read("{\"e\u{301}\":1,\"\u{E9}\":2}")
        #expect(root["\u{E9}"]?.integer == 2)
        #expect(root["e\u{301}"]?.integer == 1)
    }

    @Test func `keeps its bytes as they were written`() throws {
        let root = try read(#"{"a": { "n" : 1.50 } }"#)
        #expect(root["a"]?.description == #"{ "n" : 1.50 }"#)
        #expect(root["a"]?.offset == 6)
    }

    private func read(_ text: String) throws -> JSONValue {
        try JSONDocument(Array(text.utf8)).root
    }
}
