import Testing

@testable import HTTP

@Suite struct `Entity tags` {
    @Test(arguments: [
        ("\"a\"", EntityTag(opaque: "a")), ("W/\"a\"", EntityTag(opaque: "a", isWeak: true)),
        ("\"\"", EntityTag(opaque: "")), ("\"a,b\"", EntityTag(opaque: "a,b")),
        (#""a\""#, EntityTag(opaque: #"a\"#)), ("\"\u{E9}\"", EntityTag(opaque: "\u{E9}")),
    ])
    func `are quoted, have no escapes and may be weak (H102)`(text: String, tag: EntityTag) {
        #expect(EntityTag(text) == tag)
        #expect(tag.text == text)
    }

    @Test(arguments: [
        "", "a", "\"a", "a\"", "w/\"a\"", "W/ \"a\"", "\"a\" ", " \"a\"", "\"a b\"", "\"a\"b\"",
        "\"a\", \"b\"", "*", "\"\u{7F}\"", "\"\t\"", "W/", "'a'",
    ])
    func `anything else is invalid (H102)`(text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test(
        arguments: [
            ("\"a\", W/\"b\"", ["a", "b"]), (",, \"a\" ,,\t\"b\",", ["a", "b"]),
            ("\"a,b\",\"c\"", ["a,b", "c"]), ("\"a\" x, \"b\"", ["a"]), ("x, \"a\"", []),
            ("\"a\"\"b\"", ["a"]), ("", []),
            (String(repeating: ",", count: 16) + "\"a\"", ["a"]),
            (String(repeating: ",", count: 17) + "\"a\"", []),
        ] as [(String, [String])])
    func `of a list are read up to the first error (H30, H101)`(text: String, opaque: [String]) {
        #expect(EntityTag.list(text).map(\.opaque) == opaque)
    }

    @Test func `of a list are limited in number (H57)`() {
        let text = Array(repeating: "\"a\"", count: 300).joined(separator: ",")
        #expect(EntityTag.list(text).count == 256)
    }

    @Test func `are compared strongly and weakly (H101)`() {
        let (strong, weak) = (EntityTag(opaque: "1"), EntityTag(opaque: "1", isWeak: true))
        let other = EntityTag(opaque: "2")
        #expect(strong.matchesStrongly(strong) && strong.matchesWeakly(strong))
        #expect(!strong.matchesStrongly(weak) && strong.matchesWeakly(weak))
        #expect(!weak.matchesStrongly(weak) && weak.matchesWeakly(weak))
        #expect(!strong.matchesStrongly(other) && !weak.matchesWeakly(other))
    }

    @Test func `of a coded variant differ (H102)`() {
        let plain = EntityTag(opaque: "1")
        #expect(!plain.coded("gzip").matchesWeakly(plain))
        #expect(plain.coded("gzip") != plain.coded("deflate"))
    }
}
