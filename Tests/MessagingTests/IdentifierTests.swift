import Messaging
import Testing

@Suite struct `Identifiers` {
    @Test func `any case is read and lower case is written`() throws {
        let id = try #require(Message.ID(uuid: "A1F4C2D8-7e65-4B93-9c0d-1E2F3A4B5C6D"))
        #expect(id.uuid == "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d")
        #expect(Message.ID(bytes: id.bytes) == id)
    }

    @Test(arguments: [
        "", "a1f4c2d87e654b939c0d1e2f3a4b5c6d", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6",
        "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d0", "g1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d",
        "{a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d}", "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d\0",
        "\"a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d\"", "a1f4c2d87-e65-4b93-9c0d-1e2f3a4b5c6d",
    ]) func `other text is rejected`(text: String) {
        #expect(Message.ID(uuid: text) == nil)
    }

    @Test func `version 7 contains the time and sorts by it`() {
        let early = Message.ID.v7(at: Timestamp(milliseconds: 0x0190_0000_0001), random: .max)
        let late = Message.ID.v7(at: Timestamp(milliseconds: 0x0190_0000_0002), random: 0)
        #expect(early.uuid == "01900000-0001-7fff-bfff-ffffffffffff")
        #expect(late.uuid == "01900000-0002-7000-8000-000000000000")
        #expect(early < late)
    }
}

@Suite struct `Idempotency keys` {
    @Test(arguments: ["a", "order-4711", "\"quoted\"", String(repeating: "~", count: 255), "!"])
    func `are 1 to 255 visible ASCII characters (X2)`(text: String) {
        #expect(IdempotencyKey(text)?.text == text)
    }

    @Test(arguments: [
        "", " ", "a b", "a\tb", "a\n", "ä", "\u{7F}", "\u{0}", "a, b",
        String(repeating: "a", count: 256),
    ])
    func `are rejected in any other form (X2)`(text: String) {
        #expect(IdempotencyKey(text) == nil)
    }
}

@Suite struct `User ids` {
    @Test func `ruling 7: Unicode forms of one character are two users`() {
        let (composed, decomposed) = (UserID.named("\u{E9}"), UserID.named("e\u{301}"))
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect((composed < decomposed) != (decomposed < composed))
    }

    @Test func `ruling 7: 1 to 128 scalars, counted as scalars`() {
        #expect(UserID("") == nil)
        #expect(UserID(String(repeating: "e\u{301}", count: 64)) != nil)
        #expect(UserID(String(repeating: "e\u{301}", count: 64) + "x") == nil)
    }

    @Test func `U+0000 is rejected, unless it was stored before`() {
        #expect(UserID("a\u{0}") == nil)
        #expect(UserID("\u{0}") == nil)
        #expect(UserID("\u{1}") != nil)
        #expect(UserID(stored: "a\u{0}")?.text == "a\u{0}")
        #expect(UserID(stored: "") == nil)
    }

    @Test func `ruling 30: dot segments are rejected, because no URL can contain them`() {
        #expect(UserID(".") == nil)
        #expect(UserID("..") == nil)
        #expect(UserID("...")?.text == "...")
        #expect(UserID(".a")?.text == ".a")
        #expect(UserID(stored: "..")?.text == "..")
    }

    @Test func `case is significant`() {
        #expect(UserID.named("Ana") != .ana)
    }
}

@Suite struct `A search text` {
    @Test(arguments: [
        ("ana", "Joana"), ("ANA", "joana"), ("ä", "ÄNNE"), ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("strasse", "STRASSE 1"), ("STRASSE", "Straße 1"), ("ß", "MASSE"), ("Дом", "мой дом"),
        ("會議", "明天會議室"), ("👩", "👩‍👩‍👧"), (" ", "a b"), ("%", "100%"), ("_", "a_b"),
        ("\u{301}", "e\u{301}"),
    ])
    func `matches in either case of any script`(text: String, other: String) {
        #expect(SearchText(text)?.isIn(other) == true)
    }

    @Test(arguments: [
        ("ana", "an"), ("ana", "anxa"), ("%", "abc"), ("_", "abc"), ("é", "e\u{301}"), ("e", "é"),
        ("x", ""), ("aab", "aac aaa"),
    ])
    func `does not match other texts`(text: String, other: String) {
        #expect(SearchText(text)?.isIn(other) == false)
    }

    @Test func `has at least one character`() {
        #expect(SearchText("") == nil)
        #expect(SearchText("a") == SearchText("A"))
    }
}
