import JSON
import Testing

@Suite struct `A JSON document` {
    @Test(arguments: [
        "{}", "[]", "\"\"", "0", "-0", "true", "false", "null", " 1 ", "\t\r\n[ ]\n",
        "[1,2.5,-3e10,1E+2,1e-2,0.0,0e1,-0.1]", #"{"a":1,"b":{"a":[]}}"#, #"{"":0}"#,
        #""\"\\\/\b\f\n\r\t""#, #""\u0000\u001f\uD834\uDD1E\uFFFF""#, "\"\u{7F}\u{80}€😀\"",
        "\"\u{2028}\u{2029}\u{FEFF}\"", "{\"\u{E9}\":1,\"e\u{301}\":2}", #"[[[[[[[[]]]]]]]]"#,
        #""012345678""#,
        "12345678901234567890123456789012345678901234567890", "[1e400]", #"["\\u"]"#,
    ])
    func `is accepted when RFC 8259 allows it`(text: String) throws {
        let document = try JSONDocument(Array(text.utf8))
        #expect(text.contains(document.root.description))
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd, 0),
            ("  ", .unexpectedEnd, 2),
            ("{", .unexpectedEnd, 1),
            ("[1", .unexpectedEnd, 2),
            ("\"a", .unexpectedEnd, 2),
            (#""\"#, .unexpectedEnd, 2),
            ("tru", .unexpectedEnd, 3),
            ("-", .unexpectedEnd, 1),
            ("1e", .unexpectedEnd, 2),
            ("[1,]", .unexpectedByte(UInt8(ascii: "]")), 3),
            ("[,1]", .unexpectedByte(UInt8(ascii: ",")), 1),
            ("[1 2]", .unexpectedByte(UInt8(ascii: "2")), 3),
            ("[1}", .unexpectedByte(UInt8(ascii: "}")), 2),
            ("{]", .unexpectedByte(UInt8(ascii: "]")), 1),
            (#"{"a":1,}"#, .unexpectedByte(UInt8(ascii: "}")), 7),
            (#"{"a" 1}"#, .unexpectedByte(UInt8(ascii: "1")), 5),
            (#"{"a":}"#, .unexpectedByte(UInt8(ascii: "}")), 5),
            ("{a:1}", .unexpectedByte(UInt8(ascii: "a")), 1),
            ("{1:1}", .unexpectedByte(UInt8(ascii: "1")), 1),
            ("{'a':1}", .unexpectedByte(UInt8(ascii: "'")), 1),
            ("trux", .unexpectedByte(UInt8(ascii: "x")), 3),
            ("True", .unexpectedByte(UInt8(ascii: "T")), 0),
            ("NaN", .unexpectedByte(UInt8(ascii: "N")), 0),
            ("+1", .unexpectedByte(UInt8(ascii: "+")), 0),
            (".5", .unexpectedByte(UInt8(ascii: ".")), 0),
            ("/**/1", .unexpectedByte(UInt8(ascii: "/")), 0),
            ("\u{0C}1", .unexpectedByte(0x0C), 0),
            ("\u{A0}1", .unexpectedByte(0xC2), 0),
            ("\u{0}", .unexpectedByte(0), 0),
            ("01", .invalidNumber, 1),
            ("-01", .invalidNumber, 2),
            ("-a", .invalidNumber, 1),
            ("1.", .unexpectedEnd, 2),
            ("[1.]", .invalidNumber, 3),
            ("[1.e1]", .invalidNumber, 3),
            ("[1e+]", .invalidNumber, 4),
            ("[0x1]", .unexpectedByte(UInt8(ascii: "x")), 2),
            ("1 1", .trailingBytes, 2),
            ("{}}", .trailingBytes, 2),
            ("nullx", .trailingBytes, 4),
            ("\u{FEFF}{}", .byteOrderMark, 0),
            ("\"a\nb\"", .controlCharacter, 2),
            ("\"\u{0}\"", .controlCharacter, 1),
            ("\"01234567\u{1F}\"", .controlCharacter, 9),
            (#""\x""#, .invalidEscape, 1),
            (#""\U0041""#, .invalidEscape, 1),
            (#""\u00g0""#, .invalidEscape, 1),
            (#""\u 041""#, .invalidEscape, 1),
            (#""\ud800""#, .loneSurrogate, 1),
            (#""\udc00""#, .loneSurrogate, 1),
            (#""\ud800\n""#, .loneSurrogate, 1),
            (#""\ud800\u0041""#, .loneSurrogate, 1),
            (#""\ud800\ud800""#, .loneSurrogate, 1),
            (#"{"a":1,"a":1}"#, .duplicateName, 7),
            (#"{"a":1,"b":{},"\u0061":1}"#, .duplicateName, 14),
            (#"{"a":[1,2],"x":{"b":1,"b":2}}"#, .duplicateName, 22),
        ] as [(String, JSONError.Reason, Int)])
    func `is rejected with reason and offset`(text: String, reason: JSONError.Reason, offset: Int) {
        expectRefusal(of: Array(text.utf8), reason, at: offset)
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2, 0x20], [0xE0, 0x80, 0x80],
            [0xE0, 0x9F, 0xBF], [0xE2, 0x82, 0x20], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        ] as [[UInt8]])
    func `is rejected when a string is not UTF-8`(bytes: [UInt8]) {
        expectRefusal(of: [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")], .invalidUTF8, at: 1)
    }

    @Test func `may be nested to the limit but no deeper (H189)`() throws {
        let deepest = nested(64)
        #expect(try JSONDocument(deepest).root.kind == .array)
        expectRefusal(of: nested(65), .tooDeep(limit: 64), at: 64)
    }

    @Test func `with a hundred thousand open brackets is rejected without a crash`() {
        let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        expectRefusal(of: brackets, .tooDeep(limit: 64), at: 64)
        #expect(throws: JSONError.self) {
            try JSONDocument(brackets, limits: JSONLimits(depth: .max))
        }
    }

    @Test func `above the size limit is rejected before it is parsed`() {
        let limits = JSONLimits(size: 4)
        #expect(throws: JSONError.self) { try JSONDocument(Array("[1,2]".utf8), limits: limits) }
        #expect(throws: Never.self) { try JSONDocument(Array("[12]".utf8), limits: limits) }
    }

    @Test func `may hold numbers of 64 bytes but none longer (H189)`() {
        let digits = String(repeating: "1", count: 64)
        #expect(throws: Never.self) { try JSONDocument(Array(digits.utf8)) }
        expectRefusal(of: Array("[\(digits)1]".utf8), .numberTooLong(limit: 64), at: 1)
    }

    @Test func `with many members may not repeat a name`() throws {
        let names = (0..<50_000).map { "\"n\($0)\":0" }
        let object = "{" + names.joined(separator: ",")
        #expect(try JSONDocument(Array("\(object)}".utf8)).root.count == 50_000)
        expectRefusal(
            of: Array("\(object),\"\\u006e7\":1}".utf8), .duplicateName, at: object.utf8.count + 1)
    }

    private func nested(_ depth: Int) -> [UInt8] {
        Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
}

func expectRefusal(
    of bytes: [UInt8], _ reason: JSONError.Reason, at offset: Int,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let error = #expect(throws: JSONError.self, sourceLocation: sourceLocation) {
        try JSONDocument(bytes)
    }
    #expect(error?.reason == reason, sourceLocation: sourceLocation)
    #expect(error?.offset == offset, sourceLocation: sourceLocation)
}

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

    @Test func `answers nil for other types`() throws {
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

    @Test func `decodes escapes`() throws {
        let text = try read(#""\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83D\uDE00""#)
        #expect(text.string == "\"\\/\u{8}\u{C}\n\r\tAé€😀")
        #expect(text.utf8.map(Array.init) == Array("\"\\/\u{8}\u{C}\n\r\tAé€😀".utf8))
    }

    @Test func `compares names by their bytes`() throws {
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
