import HTTP
import TestSupport
import Testing

@Suite struct `Decoding a body` {
    @Test(arguments: ChunkCase.accepted)
    func `valid chunks give their content, however they are split (H3, H46–H50)`(
        case example: ChunkCase
    ) {
        let message = utf8Bytes(example.message)
        let whole = Decoding(message)
        #expect(whole.body == utf8Bytes(example.body))
        #expect(whole.ending == .complete)
        #expect(whole.used == message.count)
        expectSameDecodingForEverySplit(message)
    }

    @Test(arguments: ChunkCase.refused)
    func `malformed chunks are refused, however they are split (H3, H46–H50)`(
        case example: ChunkCase
    ) {
        let message = utf8Bytes(example.message)
        #expect(Decoding(message).ending == .refused(400))
        expectSameDecodingForEverySplit(message)
    }

    @Test(arguments: ChunkCase.accepted)
    func `what follows the last chunk belongs to the next request (H52)`(case example: ChunkCase) {
        let message = utf8Bytes(example.message)
        #expect(Decoding(message + utf8Bytes("GET / HTTP/1.1")).used == message.count)
    }

    @Test(arguments: ChunkCase.accepted)
    func `an interrupted body is never complete (H51)`(case example: ChunkCase) {
        let message = utf8Bytes(example.message)
        let wrong = (0..<message.count).filter { count in
            Decoding(Array(message[..<count])).ending != .waiting
        }
        #expect(wrong.isEmpty)
    }

    @Test func `a length takes exactly that many bytes (H43, H52)`() {
        let message = utf8Bytes("helloGET /")
        #expect(Decoding(message, as: .length(5)).body == utf8Bytes("hello"))
        #expect(Decoding(message, as: .length(5)).ending == .complete)
        #expect(Decoding(message, as: .length(99)).ending == .waiting)
        #expect(Decoding(message, as: .length(0)).used == 0)
        #expect(Decoding(message, as: .none).ending == .complete)
    }

    @Test func `the limit counts decoded bytes and holds while reading (H49)`() {
        let message = utf8Bytes("5\r\nhello\r\n5\r\nworld\r\n")
        #expect(Decoding(message + utf8Bytes("0\r\n\r\n"), limit: 10).ending == .complete)
        #expect(Decoding(message, limit: 9).ending == .refused(413))
        #expect(
            Decoding(utf8Bytes("7fffffffffffffff\r\n0123456789"), limit: 9).ending == .refused(413))
    }

    @Test func `too many small chunks are refused (H49)`() {
        let chunks = [[UInt8]](repeating: utf8Bytes("1\r\nx\r\n"), count: 65_537 + 16)
        #expect(
            Decoding(chunks.prefix(65_536).flatMap { chunk in chunk }, limit: 1024).ending
                == .refused(413))
        #expect(Decoding(chunks.flatMap { chunk in chunk }, limit: 70_000).ending == .waiting)
        #expect(Decoding(chunks.flatMap { chunk in chunk }, limit: 1 << 20).body.count == 65_553)
    }

    @Test func `a chunk line and all extensions together have a limit (H47)`() {
        let long = { (count: Int) in
            utf8Bytes("1;" + String(repeating: "a", count: count) + "\r\nx\r\n")
        }
        #expect(Decoding(long(1000)).ending == .waiting)
        #expect(Decoding(long(1030)).ending == .refused(400))
        #expect(
            Decoding([[UInt8]](repeating: long(1000), count: 16).flatMap { part in part }).ending
                == .waiting)
        #expect(
            Decoding([[UInt8]](repeating: long(1000), count: 17).flatMap { part in part }).ending
                == .refused(400))
    }

    @Test func `trailers have a limit in bytes and in lines (H50)`() {
        let trailers = { (count: Int, size: Int) in
            utf8Bytes(
                "0\r\n"
                    + String(
                        repeating: "A: " + String(repeating: "b", count: size) + "\r\n",
                        count: count))
        }
        #expect(Decoding(trailers(32, 10) + utf8Bytes("\r\n")).ending == .complete)
        #expect(Decoding(trailers(33, 10)).ending == .refused(431))
        #expect(Decoding(trailers(1, 8180) + utf8Bytes("\r\n")).ending == .complete)
        #expect(Decoding(trailers(1, 8200)).ending == .refused(431))
    }

    @Test func `one trailer may be kept, however it is split, and no other (H50)`() throws {
        let message = utf8Bytes(
            "1\r\nx\r\n0\r\nA: b\r\nupload-CHECKSUM: \t one \r\nUpload-Checksum:two\r\n"
                + "Upload-Checksums: no\r\n\r\n")
        for cut in 0...message.count {
            var decoder = BodyDecoder(.chunked, limit: 1, keeping: "Upload-Checksum")
            var used = 0
            for end in [cut, message.count] {
                feeding: while used <= end {
                    switch try decoder.step(message[used..<end].span) {
                    case .framing(let count), .content(let count): used += count
                    case .needsInput, .end: break feeding
                    }
                }
            }
            #expect(decoder.trailer == ["one", "two"])
        }
    }

    @Test(arguments: 0..<400)
    func `mutations never trap, and every split gives the same result (H3, H215)`(
        case number: UInt64
    ) {
        var random = SeededGenerator(number)
        for _ in 0..<25 {
            let seed = random.one(of: ChunkCase.accepted + ChunkCase.refused)
            let message = random.mutation(of: utf8Bytes(seed.message))
            #expect(
                Decoding(message, cuts: random.cuts(of: message.count)) == Decoding(message),
                "\(message)")
        }
    }

    @Test(arguments: 0..<100)
    func `chunked content is decoded unchanged (H46)`(case number: UInt64) {
        var random = SeededGenerator(number)
        let pieces = (0..<random.number(0...9)).map { _ in
            (0..<random.number(1...40)).map { _ in UInt8(random.number(0...255)) }
        }
        let message =
            pieces.flatMap { piece in
                utf8Bytes(String(piece.count, radix: 16) + "\r\n") + piece + utf8Bytes("\r\n")
            }
            + utf8Bytes("0\r\n\r\n")
        let decoding = Decoding(message, cuts: random.cuts(of: message.count))
        #expect(decoding.body == pieces.flatMap { piece in piece })
        #expect(decoding.used == message.count)
    }
}

private func expectSameDecodingForEverySplit(
    _ message: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
) {
    let whole = Decoding(message)
    let differing = (0...message.count).filter { cut in
        Decoding(message, cuts: [cut, message.count]) != whole
    }
    #expect(differing.isEmpty, sourceLocation: sourceLocation)
    #expect(
        Decoding(message, cuts: Array(0...message.count)) == whole, sourceLocation: sourceLocation)
}
