import HTTP
import Testing

@Suite struct `A field that is a list` {
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

    @Test func `has an end (H30, H57)`() {
        #expect(FieldList.elements(of: String(repeating: ",", count: 15)) == [])
        #expect(FieldList.elements(of: String(repeating: ",", count: 16)) == nil)
        let many = { (count: Int) in Array(repeating: "a", count: count).joined(separator: ",") }
        #expect(FieldList.elements(of: many(256))?.count == 256)
        #expect(FieldList.elements(of: many(257)) == nil)
        #expect(FieldList.elements(of: #"a, "b"#) == nil)
    }
}
