import JSON
import Testing

@Suite struct `The nearest name` {
    private static let known = ["operation", "property", "value", "id", "http.listen"]

    @Test(arguments: [
        ("vlaue", "value"), ("valeu", "value"), ("valu", "value"), ("vallue", "value"),
        ("VALUE", "value"), ("Vlaue", "value"), ("di", "id"), ("i", "id"), ("poeprty", "property"),
        ("oppreations", "operation"), ("http.lisetn", "http.listen"),
    ]) func `counts an edit for each letter and for two swapped ones`(name: String, near: String) {
        let nearest = NearestName(to: name, of: Self.known)
        #expect(nearest?.name == near)
        #expect(nearest?.isLikely == true)
    }

    @Test(arguments: ["vlaux", "aluev", "color", "", "x", "e"])
    func `is unlikely with more edits than a third of its letters`(name: String) {
        #expect(NearestName(to: name, of: ["value", "property"])?.isLikely == false)
    }

    @Test func `is unlikely for a name of more than 64 bytes`() {
        let known = [String(repeating: "a", count: 64), "b"]
        #expect(NearestName(to: known[0] + "a", of: known)?.isLikely == false)
        #expect(NearestName(to: String(repeating: "a", count: 63), of: known)?.isLikely == true)
        let long = String(repeating: "a", count: 1_000_000)
        #expect(NearestName(to: long, of: known)?.name == known[0])
    }

    @Test func `begins with the unknown name when that is no misspelling`() {
        let known = ["PARLEY_APP_ID", "PARLEY_DATA_FOLDER", "PARLEY_DATABASE_URL"]
        #expect(NearestName(to: "PARLEY_DATA", of: known)?.name == "PARLEY_DATA_FOLDER")
        #expect(NearestName(to: "parley_database", of: known)?.name == "PARLEY_DATABASE_URL")
        #expect(NearestName(to: "PARLEY_APP_D", of: known)?.name == "PARLEY_APP_ID")
    }

    @Test func `is the first of several, and none without known names`() {
        #expect(NearestName(to: "ac", of: ["ab", "ad"])?.name == "ab")
        #expect(NearestName(to: "ac", of: []) == nil)
    }
}
