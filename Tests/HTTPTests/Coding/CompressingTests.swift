import TestSupport
import Testing

@testable import HTTP

@Suite struct `Compressing a response` {
    private let text = Array(String(repeating: "All work and no play. ", count: 100).utf8)

    private func ask(
        _ response: Response, _ accepted: String? = "gzip", holdsSecret: Bool = false
    ) async -> Response {
        let fields = Fields(accepted.map { value in [("Accept-Encoding", value)] } ?? [])
        return await response.compressed(for: fields, holdsSecret: holdsSecret)
    }

    @Test(arguments: [
        ("gzip", "gzip"), ("deflate", "deflate"), ("x-gzip", "gzip"), ("br, deflate", "deflate"),
    ])
    func `uses the accepted coding, with its length (H111, H116)`(
        accepted: String, name: String
    ) async throws {
        let answer = await ask(Response(.ok, "application/json; charset=UTF-8", text), accepted)
        #expect(answer.fields["Content-Encoding"] == name)
        #expect(answer.fields["Vary"] == "Accept-Encoding")
        #expect(answer.content.length.map { length in length < 200 } == true)
        let coding = try #require(ContentCoding(rawValue: name))
        #expect(try await inflated(answer, coding) == text)
    }

    @Test(arguments: [nil, "identity", "gzip;q=0", "br", "gzip;q=9"])
    func `is not done for other clients, which get Vary (H111, H112)`(accepted: String?) async {
        let answer = await ask(Response(.ok, "application/json", text), accepted)
        #expect(answer.fields["Content-Encoding"] == nil)
        #expect(answer.fields["Vary"] == "Accept-Encoding")
        #expect(answer.content.length == Int64(text.count))
    }

    @Test(arguments: [
        ("application/json", true), ("text/plain; charset=utf-8", true), ("TEXT/HTML", true),
        ("application/problem+json", true), ("image/svg+xml", true), ("image/png", false),
        ("text/event-stream", false), ("application/octet-stream", false),
        ("application/gzip", false), ("multipart/byteranges; boundary=x", false),
    ])
    func `is done for text only (H114)`(type: String, isCompressed: Bool) async {
        let answer = await ask(Response(.ok, type, text))
        #expect((answer.fields["Content-Encoding"] != nil) == isCompressed)
    }

    @Test func `starts at 1,024 bytes (H114)`() async {
        for (count, isCompressed) in [(1023, false), (1024, true)] {
            let bytes = [UInt8](repeating: 0x61, count: count)
            let answer = await ask(Response(.ok, "text/plain", bytes))
            #expect((answer.fields["Content-Encoding"] != nil) == isCompressed)
        }
    }

    @Test(arguments: [
        ("gzip", #""t""#, #""t-gzip""#), ("deflate", #"W/"t""#, #"W/"t-deflate""#),
        ("br", #""t""#, #""t""#), ("gzip", "no tag", "no tag"),
    ])
    func `changes the entity tag (H102)`(
        coding: String, tag: String, coded: String
    ) async {
        var response = Response(.ok, "text/plain", text)
        response.fields.add("X-Before", "\"t\"")
        response.fields.add("ETag", tag)
        response.fields.add("X-After", "é")
        let fields = await ask(response, coding).fields
        #expect(fields["ETag"] == coded)
        #expect(fields["X-Before"] == "\"t\"")
        #expect(fields["X-After"] == "é")
    }

    @Test func `skips coded, partial and empty content (H114)`() async {
        for (name, value) in [
            ("Content-Encoding", "br"), ("Content-Range", "bytes 0-1/2"),
        ] as [(FieldName, String)] {
            var response = Response(.ok, "text/plain", text)
            response.fields.add(name, value)
            #expect(await ask(response).content.length == Int64(text.count))
        }
        #expect(await ask(Response(.partialContent, "text/plain", text)).content.length == 2200)
        #expect(await ask(Response(.noContent)).fields["Vary"] == "Accept-Encoding")
    }

    @Test func `is not done beside a secret (H115)`() async {
        let answer = await ask(Response(.ok, "application/json", text), holdsSecret: true)
        #expect(answer.fields["Content-Encoding"] == nil)
        #expect(answer.fields["Vary"] == "Accept-Encoding")
    }

    @Test func `is not done where it saves nothing (H114)`() async {
        var random = SeededGenerator(1)
        let noise = (0..<4000).map { _ in UInt8(random.number(0...255)) }
        let answer = await ask(Response(.ok, "text/plain", noise))
        #expect(answer.fields["Content-Encoding"] == nil)
        #expect(answer.content.length == 4000)
    }

    @Test func `of large content on another thread gives the same result (H114, H184)`()
        async throws
    {
        let large = Array(repeating: text, count: 200).flatMap { $0 }
        let answer = await ask(Response(.ok, "text/plain", large))
        #expect(try await inflated(answer, .gzip) == large)
    }

    private func inflated(_ answer: Response, _ coding: ContentCoding) async throws -> [UInt8] {
        guard case .bytes(let bytes) = answer.content else { return [] }
        return try await ScriptedBody(bytes).decoded(
            coding, InflationLimits(size: 1 << 20, ratio: 2000)
        )
        .collect()
    }
}
