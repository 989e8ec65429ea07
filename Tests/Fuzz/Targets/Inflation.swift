@testable import HTTP

/// Coded bodies of requests (H117–H119).
enum Inflation {
    private struct Decoding: Equatable {
        var content: [UInt8] = []
        var isOver = false
        var isDamaged = false
    }

    private static let limit = 1 << 14

    static func check(_ input: [UInt8]) {
        for coding in ContentCoding.allCases {
            let ways = Cuts.ways(of: input).map { cuts in decode(input, cuts, coding) }
            law("every split says the same (H3)", ways.allSatisfy { way in way == ways[0] })
            guard ways[0].isOver else { continue }
            let content = ways[0].content
            let again = Deflater(coding).compress(content.span, .finish)
            law(
                "what was decoded, coded and decoded again is the same",
                decode(again, [again.count], coding) == ways[0])
        }
    }

    /// Decodes into small pieces, as far as the limit.
    private static func decode(_ input: [UInt8], _ cuts: [Int], _ coding: ContentCoding) -> Decoding
    {
        let inflater = Inflater(coding)
        var any = Cuts(of: input)
        var result = Decoding()
        var used = 0
        for cut in cuts {
            var makesProgress = true
            while makesProgress {
                let capacity = min(1 + any.number(below: 600), limit - result.content.count)
                var piece = BodyBuffer(capacity: capacity)
                do throws(Inflater.Corruption) {
                    let step = try inflater.inflate(input[used..<cut], into: &piece)
                    used += step.consumed
                    result.content += piece.bytes
                    // Where the limit is, the end of the content may be seen now or with the next look.
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
