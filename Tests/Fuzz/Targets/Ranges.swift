import HTTP

/// The result of a `Range` for a content of some size (H106–H108); the input is `SIZE RANGE`.
enum Ranges {
    static func check(_ input: [UInt8]) {
        let halves = input.split(separator: 0x20, maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let field = String(validating: halves[1], as: UTF8.self),
            let size = Int64(String(decoding: halves[0], as: UTF8.self)),
            // A content cannot be so large that its size and those of the part heads overflow.
            (0...1 << 62).contains(size)
        else { return }
        guard case .parts(let parts) = ByteRanges(field, size: size, limit: 32) else { return }
        invariant("there are 1 to 32 parts (H108)", (1...32).contains(parts.count))
        invariant(
            "every part lies in the content",
            parts.allSatisfy { part in
                !part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size
            })
        let sorted = parts.sorted { one, other in one.lowerBound < other.lowerBound }
        invariant(
            "no byte is sent twice (H108)",
            zip(sorted, sorted.dropFirst()).allSatisfy { one, next in
                one.upperBound <= next.lowerBound
            })
        checkContent(parts, of: size)
    }

    /// Checks that the content consists of the parts and their heads (H110).
    private static func checkContent(_ parts: [Range<Int64>], of size: Int64) {
        var random = SystemRandomNumberGenerator()
        let partial = PartialContent(parts, of: size, "text/plain", using: &random)
        let content = partial.content { part in
            .parts([
                .bytes([]), .file(UnreadFile(), offset: part.lowerBound, length: Int64(part.count)),
            ])
        }
        let sum = parts.reduce(0) { sum, part in sum + Int64(part.count) }
        invariant(
            "one part has Content-Range, several have one each",
            (partial.contentRange == nil) == (parts.count > 1))
        invariant("the length is the sum of the pieces", content.length == partial.length)
        let heads = partial.length - sum
        invariant(
            "heads of parts are short",
            parts.count > 1 ? heads < 200 * Int64(parts.count + 1) : heads == 0)
    }

    /// A file that is never read.
    private final class UnreadFile: FileContent {
        let descriptor: Int32 = -1
    }
}
