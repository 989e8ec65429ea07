import HTTP
import Testing

extension LiveServerTests {
    @Suite struct `Content codings over a socket` {
        private static let text = Array(
            String(repeating: "All work and no play. ", count: 500).utf8)

        /// Decodes request bodies and compresses responses.
        private static let service = TestService { request in
            let coding = Result { () throws(ContentCoding.Unsupported) in
                try ContentCoding.of(request)
            }
            guard case .success(let coding) = coding else {
                return Answer("", Response(.unsupportedMediaType))
            }
            return Answer("", BodyPolicy(limit: 1 << 20)) { body in
                guard request.framing.announcesContent else {
                    return await Response(.ok, "text/plain", text).compressed(for: request.fields)
                }
                let decoded = body.decoded(coding, InflationLimits(size: 1 << 20))
                return await TestService.collected(decoded)
            }
        }

        @Test(arguments: ["gzip", "deflate"])
        func `compressed content is accepted and decoded unchanged (H111, H116, H118)`(name: String)
            async throws
        {
            try await serving(Self.service) { live in
                let client = try live.connect()
                try client.send(.head("GET / HTTP/1.1", "Accept-Encoding: \(name)"))
                let coded = try client.answer()
                #expect(coded["Content-Encoding"] == name)
                #expect(coded["Vary"] == "Accept-Encoding")
                #expect(coded.content.count < 500)
                let head = String.head(
                    "POST / HTTP/1.1", "Content-Encoding: \(name)",
                    "Content-Length: \(coded.content.count)")
                try client.send(Array(head.utf8) + coded.content)
                #expect(try client.answer().content == Self.text)
            }
        }

        @Test func `a compressed body may arrive in chunks, byte by byte (H118)`() async throws {
            let coded = Deflater(.gzip).compress(Self.text.span, .finish)
            try await serving(Self.service) { live in
                let client = try live.connect()
                try client.send(
                    .head(
                        "POST / HTTP/1.1", "Content-Encoding: gzip", "Transfer-Encoding: chunked"))
                for byte in coded { try client.send([0x31, 0x0D, 0x0A, byte, 0x0D, 0x0A]) }
                try client.send("0\r\n\r\n")
                #expect(try client.answer().content == Self.text)
            }
        }

        @Test
        func `a zip bomb is refused long before its end, and the server continues (H118, H191)`()
            async throws
        {
            let deflater = Deflater(.gzip)
            let zeros = [UInt8](repeating: 0, count: 1 << 20)
            let bomb = (0..<200).flatMap { _ in deflater.compress(zeros.span, .none) }
            try await serving(Self.service) { live in
                let client = try live.connect()
                let head = String.head(
                    "POST / HTTP/1.1", "Content-Encoding: gzip", "Content-Length: \(bomb.count)")
                try client.send(Array(head.utf8) + bomb)
                let answer = try client.answer()
                #expect(answer.status == 413)
                #expect(answer.text == "H118")
                #expect(try live.exchange(.head("GET / HTTP/1.1")).hasPrefix("HTTP/1.1 200 "))
            }
        }

        @Test func `a truncated or damaged body gets 400, an unknown coding 415 (H117, H119)`()
            async throws
        {
            let coded = Deflater(.deflate).compress(Self.text.span, .finish)
            try await serving(Self.service) { live in
                for bytes in [Array(coded.dropLast()), coded + [1], Self.text] {
                    let head = String.head(
                        "POST / HTTP/1.1", "Content-Encoding: deflate",
                        "Content-Length: \(bytes.count)")
                    let client = try live.connect()
                    try client.send(Array(head.utf8) + bytes)
                    #expect(try client.answer().status == 400)
                }
                let answer = try live.exchange(
                    .head("POST / HTTP/1.1", "Content-Encoding: zstd", "Content-Length: 1") + "x")
                #expect(answer.hasPrefix("HTTP/1.1 415 "))
            }
        }

        @Test func `a stream is compressed event by event, in chunks (H114, H116)`() async throws {
            let service = TestService { request in
                Answer("") { _ in
                    await Response(
                        .ok, fields: .text, content: .stream(ThreeEvents())
                    ).compressed(for: request.fields)
                }
            }
            try await serving(service) { live in
                let reply = try live.exchange(
                    .head("GET / HTTP/1.1", "Accept-Encoding: gzip", "Connection: close"))
                #expect(reply.contains("Transfer-Encoding: chunked\r\n"))
                #expect(reply.contains("Content-Encoding: gzip\r\n"))
                #expect(!reply.contains("Content-Length"))
                // Three events and an end, each in its own chunk, then the last chunk.
                let content = reply.components(after: "\r\n\r\n")
                #expect(content.hasSuffix("0\r\n\r\n"))
                #expect(!content.contains("event"))
            }
        }
    }
}

/// Sends three events and ends.
private final class ThreeEvents: ByteChannelHandler {
    func opened(_ channel: any ByteChannel) {
        for number in 1...3 { channel.send(Array("event event event \(number)\n".utf8)) }
        channel.finish()
    }
    func stopping() {}
    func closed() {}
}

extension ResponseFields {
    fileprivate static var text: ResponseFields {
        var fields = ResponseFields()
        fields.add("Content-Type", "text/plain")
        return fields
    }
}

extension String {
    /// The part after the first occurrence of a text.
    fileprivate func components(after mark: String) -> String {
        firstRange(of: mark).map { range in String(self[range.upperBound...]) } ?? ""
    }
}
