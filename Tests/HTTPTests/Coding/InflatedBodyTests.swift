import TestSupport
import Testing

@testable import HTTP

@Suite struct `A coded body` {
    private let text = Array("{\"parts\":[{\"body\":\"hello\",\"mime_type\":\"text/plain\"}]}".utf8)

    private func read(
        _ bytes: [UInt8], _ coding: ContentCoding = .gzip, size: Int64 = 1 << 20,
        cuts: [Int] = []
    ) async throws(BodyError) -> [UInt8] {
        try await ScriptedBody(bytes, cuts: cuts)
            .decoded(coding, InflationLimits(size: size)).collect()
    }

    private func refusal(
        _ bytes: [UInt8], _ coding: ContentCoding = .gzip, size: Int64 = 1 << 20,
        cuts: [Int] = []
    ) async -> Refusal? {
        do throws(BodyError) {
            _ = try await read(bytes, coding, size: size, cuts: cuts)
            return nil
        } catch {
            if case .refused(let refusal) = error { return refusal }
            return nil
        }
    }

    @Test func `without coding is the body itself`() async throws {
        let body = ScriptedBody(text)
        #expect(body.decoded(nil, InflationLimits(size: 1)) === body)
    }

    @Test func `of gzip made elsewhere is read, name and comment included (H117)`() async throws {
        // `printf 'hello' | gzip -9`, with FNAME "a" and FCOMMENT "b" inserted.
        let bytes: [UInt8] =
            [0x1F, 0x8B, 8, 0x18, 0, 0, 0, 0, 2, 3, 0x61, 0, 0x62, 0]
            + [0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0, 0]
        #expect(try await read(bytes) == Array("hello".utf8))
    }

    @Test(arguments: ContentCoding.allCases)
    func `that is incomplete is 400, wherever it ends (H119)`(coding: ContentCoding) async {
        let coded = coding.compress(text)
        for end in 0..<coded.count {
            #expect(await refusal(Array(coded[..<end]), coding)?.status == .badRequest)
        }
    }

    @Test(arguments: ContentCoding.allCases)
    func `that is damaged is 400, or decodes unchanged (H119)`(coding: ContentCoding) async {
        let coded = coding.compress(text)
        for index in coded.indices {
            var damaged = coded
            damaged[index] ^= 0x55
            let outcome = await Self.outcome { () async throws(BodyError) in
                try await read(damaged, coding)
            }
            // Time and system in the gzip header do not affect the content.
            let isHarmless = coding == .gzip && (4...9).contains(index)
            #expect(outcome == (isHarmless ? .success(text) : .failure(.badRequest)))
        }
    }

    @Test(arguments: ContentCoding.allCases)
    func `followed by other bytes is 400, in the same piece or later (H119)`(
        coding: ContentCoding
    ) async {
        let coded = coding.compress(text)
        for garbage in [[0], [0x1F], [0x1F, 0x8B], Array("more".utf8), [0, 0, 0, 0]] {
            let bytes = coded + garbage
            #expect(await refusal(bytes, coding)?.rule == "H119")
            #expect(await refusal(bytes, coding, cuts: [coded.count])?.rule == "H119")
        }
    }

    @Test func `of several gzip members is their contents in order (H119)`() async throws {
        let members = [text, [], Array("more".utf8)].map { ContentCoding.gzip.compress($0) }
        let bytes = members.flatMap { $0 }
        #expect(try await read(bytes) == text + Array("more".utf8))
        let single = Array(repeating: 1, count: bytes.count)
        #expect(try await read(bytes, cuts: single) == text + Array("more".utf8))
        let twice = ContentCoding.deflate.compress(text) + ContentCoding.deflate.compress(text)
        #expect(await refusal(twice, .deflate)?.status == .badRequest)
    }

    @Test func `in bare deflate, or in the other format, is 400 (H113)`() async {
        let zlib = ContentCoding.deflate.compress(text)
        #expect(await refusal(Array(zlib[2...].dropLast(4)), .deflate)?.rule == "H119")
        #expect(await refusal(zlib, .gzip)?.rule == "H119")
        #expect(await refusal(ContentCoding.gzip.compress(text), .deflate)?.rule == "H119")
        #expect(await refusal(text, .gzip)?.rule == "H119")
    }

    @Test func `is limited by its decoded size, exactly (H118)`() async throws {
        var random = SeededGenerator(3)
        let noise = (0..<5000).map { _ in UInt8(random.number(0...255)) }
        let coded = ContentCoding.gzip.compress(noise)
        #expect(try await read(coded, size: 5000) == noise)
        #expect(await refusal(coded, size: 4999)?.status == .contentTooLarge)
    }

    @Test func `may have any ratio up to 64 KiB but not beyond (H118)`() async throws {
        let small = [UInt8](repeating: 0, count: 65_536)
        #expect(try await read(ContentCoding.gzip.compress(small)) == small)
        let large = [UInt8](repeating: 0, count: 200_000)
        let refusal = await refusal(ContentCoding.gzip.compress(large))
        #expect(refusal?.status == .contentTooLarge)
        #expect(refusal?.rule == "H118")
    }

    @Test func `that is a zip bomb costs no more than the limit (H118)`() async throws {
        // 1 GiB of zeros in pieces of 1 MiB.
        let deflater = Deflater(.gzip)
        let megabyte = [UInt8](repeating: 0, count: 1 << 20)
        var bomb: [UInt8] = []
        for _ in 0..<1024 { bomb += deflater.compress(megabyte.span, .none) }
        bomb += deflater.compress([UInt8]().span, .finish)
        let script = ScriptedBody(bomb)
        let body = script.decoded(.gzip, InflationLimits(size: 8 << 20))
        // Decoded bytes are in this buffer, and input is in another of 16 KiB.
        var buffer = BodyBuffer(capacity: 16 << 10)
        var decoded = 0
        await #expect(throws: BodyError.self) {
            repeat {
                try await body.read(into: &buffer)
                decoded += buffer.count
            } while buffer.count > 0
        }
        #expect(decoded == 64 << 10)
        #expect(await script.handedOut <= 16 << 10)
    }

    @Test func `stays refused once refused (H119)`() async {
        let body = ScriptedBody(Array("garbage".utf8))
            .decoded(.gzip, InflationLimits(size: 100))
        var buffer = BodyBuffer(capacity: 100)
        for _ in 0..<2 {
            await #expect(throws: BodyError.self) { try await body.read(into: &buffer) }
        }
    }

    @Test func `that its sender interrupts is interrupted after its first bytes (H51)`()
        async throws
    {
        let coded = ContentCoding.gzip.compress(text)
        let body = ScriptedBody(Array(coded.dropLast(4)), end: .interrupted)
            .decoded(.gzip, InflationLimits(size: 1000))
        var buffer = BodyBuffer(capacity: 1000)
        try await body.read(into: &buffer)
        #expect(Array(buffer.bytes) == text)
        await #expect(throws: BodyError.interrupted) { try await body.read(into: &buffer) }
    }

    private static func outcome(
        _ read: () async throws(BodyError) -> [UInt8]
    ) async -> Result<[UInt8], Refused> {
        do throws(BodyError) {
            return .success(try await read())
        } catch {
            guard case .refused(let refusal) = error else { return .failure(.otherwise) }
            return .failure(refusal.status == .badRequest ? .badRequest : .otherwise)
        }
    }

    private enum Refused: Error { case badRequest, otherwise }
}
