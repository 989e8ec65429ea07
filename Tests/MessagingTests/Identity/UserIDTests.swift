import Messaging
import Testing

@Suite struct `User ids` {
    @Test func `rulings 7: spellings of one character are two users`() {
        let (composed, decomposed) = (UserID.named("\u{E9}"), UserID.named("e\u{301}"))
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect((composed < decomposed) != (decomposed < composed))
    }

    @Test func `rulings 7: 1 to 128 scalars, counted as scalars`() {
        #expect(UserID("") == nil)
        #expect(UserID(String(repeating: "e\u{301}", count: 64)) != nil)
        #expect(UserID(String(repeating: "e\u{301}", count: 64) + "x") == nil)
    }

    @Test func `none holds what PostgreSQL does not, unless it was kept before`() {
        #expect(UserID("a\u{0}") == nil)
        #expect(UserID("\u{0}") == nil)
        #expect(UserID("\u{1}") != nil)
        #expect(UserID(kept: "a\u{0}")?.text == "a\u{0}")
        #expect(UserID(kept: "") == nil)
    }

    @Test func `rulings 30: dot-segments are no ids, because no URL can name them`() {
        #expect(UserID(".") == nil)
        #expect(UserID("..") == nil)
        #expect(UserID("...")?.text == "...")
        #expect(UserID(".a")?.text == ".a")
        #expect(UserID(kept: "..")?.text == "..")
    }

    @Test func `case matters`() {
        #expect(UserID.named("Ana") != .ana)
    }
}
