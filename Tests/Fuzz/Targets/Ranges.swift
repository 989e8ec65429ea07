import HTTP

/// `SIZE RANGE`: what a Range field asks of a content of that size (H106–H108).
enum Ranges {
    static func check(_ input: [UInt8]) {
        let halves = input.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let field = String(validating: halves[1], as: UTF8.self),
            let size = Int64(String(decoding: halves[0], as: UTF8.self)),
            // No content is so large that the heads of its parts do not fit into a number with it.
            (0...1 << 62).contains(size)
        else { return }
        guard case .parts(let parts) = ByteRanges(field, size: size, limit: 32) else { return }
        law("at most 32 parts, and one at least (H108)", (1...32).contains(parts.count))
        law(
            "every part lies in the content",
            parts.allSatisfy { part in
                !part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size
            })
        let sorted = parts.sorted { one, other in one.lowerBound < other.lowerBound }
        law(
            "no byte is sent twice (H108)",
            zip(sorted, sorted.dropFirst()).allSatisfy { one, next in
                one.upperBound <= next.lowerBound
            })
        checkContent(parts, of: size)
    }

    /// What is sent is the parts, their heads, and nothing else (H110).
    private static func checkContent(_ parts: [Range<Int64>], of size: Int64) {
        var any = SystemRandomNumberGenerator()
        let partial = PartialContent(parts, of: size, "text/plain", using: &any)
        let content = partial.content { part in
            .parts([
                .bytes([]), .file(Nothing(), offset: part.lowerBound, length: Int64(part.count)),
            ])
        }
        let sum = parts.reduce(0) { sum, part in sum + Int64(part.count) }
        law(
            "one part says where it is, several say it each",
            (partial.contentRange == nil) == (parts.count > 1))
        law("its length is that of its pieces", content.length == partial.length)
        let heads = partial.length - sum
        law(
            "heads of parts are short",
            parts.count > 1 ? heads < 200 * Int64(parts.count + 1) : heads == 0)
    }

    /// A file that is never read.
    private final class Nothing: FileContent {
        let descriptor: Int32 = -1
    }
}
