@testable import ObjectStore

/// Responses of an object store, and the names of objects.
enum StoreDocuments {
    static func check(_ input: [UInt8]) {
        if let page = try? PartPage(input, after: 0) {
            let numbers = page.parts.map(\.number)
            invariant(
                "part numbers ascend", zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
            invariant(
                "there are at most 10,000 parts", numbers.allSatisfy { (1...10_000).contains($0) })
            invariant(
                "the next page begins after this one", page.next.map { $0 == numbers.last } ?? true)
            invariant(
                "trailing bytes are rejected", (try? PartPage(input + [0x78], after: 0)) == nil)
            checkCompletion(page.parts)
        }
        if let page = try? MultipartPage(input, after: nil) {
            invariant("every upload has a name", page.uploads.allSatisfy { !$0.upload.isEmpty })
            invariant("every upload has a key", page.uploads.allSatisfy { !$0.key.isEmpty })
        }
        if let error = ErrorDocument(input) {
            invariant("an error has a code", !error.code.isEmpty)
        }
        guard let text = String(validating: input, as: UTF8.self) else { return }
        invariant(
            "an escaped name is read back",
            URIEncoding.decoded(URIEncoding.component(text)) == text)
    }

    /// Checks that a completion document names the tags of the parts in their order.
    private static func checkCompletion(_ parts: [ObjectPart]) {
        let tags = try? tags(CompletionDocument.bytes(parts))
        invariant("a completion names every part", tags == parts.map(\.tag))
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
