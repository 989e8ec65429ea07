@testable import ObjectStore

/// What an object store answers with, and the names it is asked for.
enum StoreDocuments {
    static func check(_ input: [UInt8]) {
        if let page = try? PartPage(input, after: 0) {
            let numbers = page.parts.map(\.number)
            law("parts ascend", zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
            law("there are 10,000 parts at most", numbers.allSatisfy { (1...10_000).contains($0) })
            law("a next page begins behind this one", page.next.map { $0 == numbers.last } ?? true)
            law("nothing may follow", (try? PartPage(input + [0x78], after: 0)) == nil)
            checkCompletion(page.parts)
        }
        if let page = try? MultipartPage(input, after: nil) {
            law("every upload has a name", page.uploads.allSatisfy { !$0.upload.isEmpty })
            law("every upload has a key", page.uploads.allSatisfy { !$0.key.isEmpty })
        }
        if let error = ErrorDocument(input) { law("an error has a code", !error.code.isEmpty) }
        guard let text = String(validating: input, as: UTF8.self) else { return }
        law(
            "an escaped name is read again",
            URIEncoding.decoded(URIEncoding.component(text)) == text)
    }

    /// What is sent can be read, and says the same.
    private static func checkCompletion(_ parts: [ObjectPart]) {
        let tags = try? tags(CompletionDocument.bytes(parts))
        law("a completion names every part", tags == parts.map(\.tag))
    }

    private static func tags(_ document: [UInt8]) throws(XMLError) -> [String] {
        var reader = try XMLReader(document)
        _ = try reader.root()
        var tags: [String] = []
        while try reader.child() != nil {
            _ = try reader.child()
            try reader.skip()
            _ = try reader.child()
            tags.append(try reader.text())
            guard try reader.child() == nil else { throw .truncated }
        }
        try reader.finish()
        return tags
    }
}
