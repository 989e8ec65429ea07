@testable import HTTP

/// Compressed bodies of requests (H117–H119).
enum Inflation {
    private struct Decoding: Equatable {
        var content: [UInt8] = []
        var isOver = false
        var isDamaged = false
    }

    private static let limit = 1 << 14

    static func check(_ input: [UInt8]) {
        for coding in ContentCoding.allCases {
            let splits = Cuts.splits(of: input).map { cuts in decode(input, cuts, coding) }
            invariant(
                "every split gives the same result (H3)",
                splits.allSatisfy { split in split == splits[0] })
            guard splits[0].isOver else { continue }
            let content = splits[0].content
            let again = Deflater(coding).compress(content.span, .finish)
            invariant(
                "decoded content that is compressed and decoded again is the same",
                decode(again, [again.count], coding) == splits[0])
        }
    }

    /// Decodes into pieces of up to 600 bytes, at most `limit` bytes in total.
    private static func decode(_ input: [UInt8], _ cuts: [Int], _ coding: ContentCoding) -> Decoding
    {
        let inflater = Inflater(coding)
        var random = Cuts(of: input)
        var result = Decoding()
        var used = 0
        for cut in cuts {
            var makesProgress = true
            while makesProgress {
                let capacity = min(1 + random.number(below: 600), limit - result.content.count)
                var piece = BodyBuffer(capacity: capacity)
                do throws(Inflater.Corruption) {
                    let step = try inflater.inflate(input[used..<cut], into: &piece)
                    used += step.consumed
                    result.content += piece.bytes
                    // At the limit, the end of the content may be detected now or with the next step.
                    if result.content.count == limit { return result }
                    result.isOver = step.isOver
                    if step.isOver { return result }
                    makesProgress = step.consumed > 0 || piece.count > 0
                } catch {
                    return Decoding(isDamaged: true)
                }
            }
        }
        return result
    }
}
