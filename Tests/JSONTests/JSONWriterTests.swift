import JSON
import Testing

@Suite struct `Writing JSON` {
    @Test func `puts commas where they belong`() {
        expectText(#"{"a":1,"b":[],"c":[1,{"d":null},[true]],"e":{}}"#) { writer in
            writer.object { writer in
                writer.member("a", 1)
                writer.key("b")
                writer.array { _ in }
                writer.key("c")
                writer.array { writer in
                    writer.integer(1)
                    writer.object { writer in writer.member("d", nil) }
                    writer.array { writer in writer.bool(true) }
                }
                writer.key("e")
                writer.object { _ in }
            }
        }
    }

    @Test func `escapes what must be escaped and nothing else`() {
        expectText(#""\"\\/\b\f\n\r\t\u0000\u001f\#u{7F}\#u{2028}é€😀""#) { writer in
            writer.string("\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}\u{2028}é€😀")
        }
    }

    @Test(arguments: 0..<24) func `escapes a character at every position`(index: Int) {
        let before = String(repeating: "x", count: index)
        let after = String(repeating: "é", count: 24 - index)
        expectText("\"\(before)\\n\(after)\"") { $0.string("\(before)\n\(after)") }
    }

    @Test(arguments: [0, 1, -1, 10, 99, 100, .max, .min] as [Int64])
    func `writes integers in decimal digits`(number: Int64) {
        expectText(String(number)) { $0.integer(number) }
    }

    @Test(
        arguments: [
            (0.5, "0.5"), (-1e300, "-1e+300"), (3, "3.0"), (.infinity, "null"), (.nan, "null"),
        ] as [(Double, String)])
    func `writes doubles that read back the same`(number: Double, text: String) {
        expectText(text) { $0.double(number) }
    }

    @Test func `copies text and values given as bytes`() throws {
        let root = try JSONDocument(Array(#"{"t":"a\n€","v":[1, 2]}"#.utf8)).root
        let text = try #require(root["t"]?.utf8)
        let value = try #require(root["v"]?.raw)
        expectText(#"{"x":"a\n€","y":[1, 2],"a\"b":"z"}"#) { writer in
            writer.object { writer in
                writer.key("x")
                writer.string(utf8: text)
                writer.member("y", raw: value)
                writer.key("a\"b" as String)
                writer.string("z")
            }
        }
    }

    private func expectText(
        _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ write: (inout JSONWriter) -> Void
    ) {
        var writer = JSONWriter(capacity: 0)
        write(&writer)
        #expect(
            String(decoding: writer.finish(), as: UTF8.self) == text, sourceLocation: sourceLocation
        )
    }
}
