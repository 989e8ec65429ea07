import HTTP
import Testing

@Suite struct `Fields of a request` {
    private let fields = Fields([
        (name: "Accept", value: "a"), (name: "X-One", value: "1"), (name: "accept", value: "b"),
        (name: "X_One", value: "2"), (name: "Empty", value: ""),
    ])

    @Test func `names are found ignoring case (H1, H27)`() {
        #expect(fields["ACCEPT"] == "a")
        #expect(fields["x-one"] == "1")
        #expect(fields["x_one"] == "2")
        #expect(fields["Empty"] == "")
        #expect(fields["Acc"] == nil)
        #expect(fields.contains("eMPTY"))
        #expect(fields.occurrences(of: "accept") == 2)
        #expect(fields.count == 5)
    }

    @Test func `lines of one name are a list, in order (H28)`() {
        #expect(fields.values("Accept") == ["a", "b"])
        #expect(fields.joined("Accept") == "a, b")
        #expect(fields.joined("None") == nil)
    }

    @Test func `bytes above ASCII are preserved (H26)`() {
        var parser = RequestParser()
        let message = utf8Bytes(get("X: \u{E9}\u{80}", "Y: \u{20AC}"))
        guard case .head(let head, _) = parser.parse(message.span) else {
            Issue.record("refused")
            return
        }
        #expect(head.fields["X"] == "\u{E9}\u{80}")
        #expect(head.fields.bytes("X").map(Array.init) == [0xE9, 0x80])
        #expect(head.fields.bytes("Y").map(Array.init) == Array("\u{20AC}".utf8))
    }

    @Test func `only ASCII letters fold (H1)`() {
        let fields = Fields([
            (name: "\u{212A}ey", value: "kelvin"), (name: "[ey", value: "bracket"),
        ])
        #expect(fields["Key"] == nil)
        #expect(fields["{ey"] == nil)
    }
}

@Suite struct `A Prefer header` {
    @Test(arguments: [
        ("return=representation", "representation"), ("Return = representation", "representation"),
        (#"return="representation""#, "representation"), ("return", ""), ("return=", ""),
        ("wait=5, return=minimal;foo=bar", "minimal"), (#"a="x,return=b", return=c"#, "c"),
        ("return=a, return=b", "a"), ("return=A", "A"),
    ]) func `gives the first value of a name (RFC 7240 §2)`(line: String, value: String) {
        #expect(PreferHeader(Fields([("Prefer", line)]))["return"] == value)
    }

    @Test(arguments: ["", ",", "returns=x", #""return"=x"#, #"return="x"#, #"return=""#, "=x"])
    func `ignores malformed preferences`(line: String) {
        #expect(PreferHeader(Fields([("Prefer", line)]))["return"] == nil)
    }

    @Test func `may be split over several lines`() {
        let preferences = PreferHeader(
            Fields([("Prefer", "wait=5"), ("Prefer", "return=minimal")]))
        #expect(preferences["wait"] == "5")
        #expect(preferences["return"] == "minimal")
        #expect(PreferHeader(Fields([]))["return"] == nil)
    }
}

@Suite struct `A list field` {
    @Test(arguments: [
        ("a", ["a"]), ("a,b", ["a", "b"]), (" a ,\tb ", ["a", "b"]), ("", []), (",, a ,,", ["a"]),
        (#""a,b", c"#, [#""a,b""#, "c"]), (#""a\",b", c"#, [#""a\",b""#, "c"]),
        (#"x="a,b";y, c"#, [#"x="a,b";y"#, "c"]), (#"a\,b"#, [#"a\"#, "b"]),
        ("a, \u{595}b", ["a", "\u{595}b"]),
    ])
    func `is split at commas outside quotes, empty elements left out (H30)`(
        text: String, elements: [String]
    ) {
        #expect(FieldList.elements(of: text)?.map(String.init) == elements)
    }

    @Test func `is limited in length (H30, H57)`() {
        #expect(FieldList.elements(of: String(repeating: ",", count: 15)) == [])
        #expect(FieldList.elements(of: String(repeating: ",", count: 16)) == nil)
        let many = { (count: Int) in Array(repeating: "a", count: count).joined(separator: ",") }
        #expect(FieldList.elements(of: many(256))?.count == 256)
        #expect(FieldList.elements(of: many(257)) == nil)
        #expect(FieldList.elements(of: #"a, "b"#) == nil)
    }
}
