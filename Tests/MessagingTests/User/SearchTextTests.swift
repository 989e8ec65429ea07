import Messaging
import Testing

@Suite struct `A text to look for` {
    @Test(arguments: [
        ("ana", "Joana"), ("ANA", "joana"), ("ä", "ÄNNE"), ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("strasse", "STRASSE 1"), ("STRASSE", "Straße 1"), ("ß", "MASSE"), ("Дом", "мой дом"),
        ("會議", "明天會議室"), ("👩", "👩‍👩‍👧"), (" ", "a b"), ("%", "100%"), ("_", "a_b"),
        ("\u{301}", "e\u{301}"),
    ])
    func `is found in either case of any script`(text: String, other: String) {
        #expect(SearchText(text)?.isIn(other) == true)
    }

    @Test(arguments: [
        ("ana", "an"), ("ana", "anxa"), ("%", "abc"), ("_", "abc"), ("é", "e\u{301}"), ("e", "é"),
        ("x", ""), ("aab", "aac aaa"),
    ])
    func `is not found elsewhere`(text: String, other: String) {
        #expect(SearchText(text)?.isIn(other) == false)
    }

    @Test func `has a character at least`() {
        #expect(SearchText("") == nil)
        #expect(SearchText("a") == SearchText("A"))
    }
}
