import HTTP
import Testing

@Suite struct `Fields of a request` {
    private let fields = Fields([
        (name: "Accept", value: "a"), (name: "X-One", value: "1"), (name: "accept", value: "b"),
        (name: "X_One", value: "2"), (name: "Empty", value: ""),
    ])

    @Test func `names are found whatever the case of their letters (H1, H27)`() {
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

    @Test func `octets above ASCII are neither lost nor invented (H26)`() {
        var parser = RequestParser()
        let message = octets(get("X: \u{E9}\u{80}", "Y: \u{20AC}"))
        guard case .head(let head, _) = parser.parse(message.span) else {
            Issue.record("refused")
            return
        }
        #expect(head.fields["X"] == "\u{E9}\u{80}")
        #expect(head.fields.octets("X").map(Array.init) == [0xE9, 0x80])
        #expect(head.fields.octets("Y").map(Array.init) == Array("\u{20AC}".utf8))
    }

    @Test func `only ASCII letters fold (H1)`() {
        let fields = Fields([
            (name: "\u{212A}ey", value: "kelvin"), (name: "[ey", value: "bracket"),
        ])
        #expect(fields["Key"] == nil)
        #expect(fields["{ey"] == nil)
    }
}
