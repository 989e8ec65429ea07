import TestSupport
import Testing

@testable import HTTP

@Suite struct `Coding and decoding` {
    @Test(arguments: 0..<300)
    func `is the identity for every content and split (H111, H118)`(
        case number: UInt64
    ) async throws {
        var random = SeededGenerator(number)
        let coding = random.one(of: ContentCoding.allCases)
        let content = random.content()
        let coded = coding.compress(content)
        let cuts = (0..<random.number(0...40)).map { _ in random.number(1...300) }
        let body = ScriptedBody(coded, cuts: cuts)
        let limits = InflationLimits(size: Int64(content.count), ratio: 2000)
        #expect(try await body.decoded(coding, limits).collect() == content)
    }

    @Test(arguments: ContentCoding.allCases)
    func `is the identity byte by byte (H118)`(coding: ContentCoding) async throws {
        var random = SeededGenerator(7)
        let content = random.content()
        let coded = coding.compress(content)
        let body = ScriptedBody(coded, cuts: Array(repeating: 1, count: coded.count))
        #expect(
            try await body.decoded(coding, InflationLimits(size: 1 << 20)).collect() == content)
    }

    @Test(arguments: 0..<100)
    func `is the identity in flushed pieces, each readable at once (H116)`(
        case number: UInt64
    ) throws {
        var random = SeededGenerator(number)
        let coding = random.one(of: ContentCoding.allCases)
        let deflater = Deflater(coding)
        let inflater = Inflater(coding)
        for _ in 0..<random.number(1...8) {
            let event = random.content()
            let coded = deflater.compress(event.span, .sync)
            #expect(try inflated(coded, by: inflater) == event)
        }
        let end = deflater.compress([UInt8]().span, .finish)
        var buffer = BodyBuffer(capacity: 16)
        #expect(
            try inflater.inflate(end[...], into: &buffer)
                == .init(consumed: end.count, isOver: true)
        )
    }

    @Test(arguments: 0..<100)
    func `returns all remaining output at the end (H116)`(case number: UInt64) throws {
        var random = SeededGenerator(number)
        let coding = random.one(of: ContentCoding.allCases)
        let deflater = Deflater(coding)
        var (content, coded): ([UInt8], [UInt8]) = ([], [])
        for _ in 0..<random.number(1...8) {
            let piece = random.content()
            content += piece
            coded += deflater.compress(piece.span, .none)
        }
        coded += deflater.compress([UInt8]().span, .finish)
        #expect(try inflated(coded, by: Inflater(coding)) == content)
    }

    private func inflated(_ coded: [UInt8], by inflater: Inflater) throws -> [UInt8] {
        var (content, rest): ([UInt8], ArraySlice<UInt8>) = ([], coded[...])
        var buffer = BodyBuffer(capacity: 1000)
        repeat {
            buffer.removeAll()
            let step = try inflater.inflate(rest, into: &buffer)
            rest = rest.dropFirst(step.consumed)
            content += buffer.bytes
        } while buffer.freeCapacity == 0 || !rest.isEmpty
        return content
    }
}

extension SeededGenerator {
    /// Empty, random or repetitive content of up to 100,000 bytes.
    fileprivate mutating func content() -> [UInt8] {
        let count = number(0...3) == 0 ? number(0...100_000) : number(0...2000)
        let variety = number(0...255)
        return (0..<count).map { _ in UInt8(number(0...variety)) }
    }
}
