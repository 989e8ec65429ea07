import Blobs
import Testing

@Suite struct `A blob's name` {
    @Test(arguments: ["a", "0190-ab", String(repeating: "z", count: 64)])
    func `small letters, digits and dashes are taken`(text: String) {
        #expect(BlobName(text)?.text == text)
    }

    @Test(arguments: [
        "", "-a", "A", "a/b", "..", ".", "a.b", "a\u{0}", "ä", String(repeating: "z", count: 65),
    ])
    func `whatever could leave the folder is refused`(text: String) {
        #expect(BlobName(text) == nil)
    }
}
