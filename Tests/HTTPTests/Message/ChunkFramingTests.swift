import HTTP
import Testing

@Suite struct `Chunks of a content` {
    @Test(arguments: [1, 9, 10, 15, 16, 255, 256, 65_535, 65_536])
    func `what is framed is read back (H46, H88)`(count: Int) throws {
        let content = (0..<count).map { number in UInt8(truncatingIfNeeded: number) }
        let wire =
            ChunkFraming.head(count) + content + ChunkFraming.end + ChunkFraming.head(1) + [7]
            + ChunkFraming.end + ChunkFraming.last
        var decoder = BodyDecoder(.chunked, limit: 1 << 20)
        var read: [UInt8] = []
        var place = 0
        decoding: while true {
            switch try decoder.step(wire.span.extracting(place...)) {
            case .framing(let count): place += count
            case .content(let count):
                read += wire[place..<place + count]
                place += count
            case .needsInput, .end: break decoding
            }
        }
        #expect(read == content + [7])
        #expect(decoder.isComplete)
        #expect(place == wire.count)
    }
}
