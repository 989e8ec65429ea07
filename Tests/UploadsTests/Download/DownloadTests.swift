import Blobs
import Bytes
import HTTP
import SystemSupport
import Testing

@testable import Uploads

@Suite struct `Downloading a content` {
    private let fixture = DownloadFixture()

    @Test func `a whole content has validators, digests and security headers (9.1, 9.7)`()
        async throws
    {
        let answer = try await fixture.get()
        #expect(answer.status == .ok)
        #expect(answer.content.length == 1000)
        #expect(answer.fields["ETag"] == fixture.tag)
        #expect(answer.fields["Accept-Ranges"] == "bytes")
        #expect(answer.fields["Content-Type"] == "image/png")
        #expect(answer.fields["Last-Modified"] == "Sun, 17 Mar 2030 17:46:40 GMT")
        #expect(answer.fields["Cache-Control"] == "private, max-age=8000, immutable")
        #expect(
            answer.fields["Content-Disposition"]
                == "inline; filename=\"a.png\"; filename*=UTF-8''a.png")
        #expect(answer.fields["Content-Security-Policy"] == "default-src 'none'; sandbox")
        #expect(answer.fields["Cross-Origin-Resource-Policy"] == "cross-origin")
        #expect(answer.fields["Referrer-Policy"] == "no-referrer")
        #expect(
            answer.fields["Repr-Digest"] == "sha-256=:\(Base64.encode(fixture.content.sha256)):")
        #expect(answer.fields["X-Goog-Stored-Content-Length"] == "1000")
    }

    @Test func `a range outside of the content is 416 with the size (9.4)`() async throws {
        let answer = try await fixture.get([("Range", "bytes=1000-")])
        #expect(answer.status == .rangeNotSatisfiable)
        #expect(answer.fields["Content-Range"] == "bytes */1000")
        #expect(answer.fields["Cache-Control"] == "no-store")
        #expect(answer.text.contains("\"error\""))
    }

    @Test func `HEAD ignores ranges (9.4)`() async throws {
        let answer = try await fixture.get([("Range", "bytes=0-1")], method: .head)
        #expect(answer.status == .ok)
        #expect(answer.content.length == 1000)
    }

    @Test func `several ranges are one multipart of exact length (9.4)`() async throws {
        let answer = try await fixture.get([("Range", "bytes=0-1,500-502")])
        #expect(answer.status == .partialContent)
        #expect(answer.fields["Content-Range"] == nil)
        let type = try #require(answer.fields["Content-Type"])
        let boundary = String(type.dropFirst("multipart/byteranges; boundary=".count))
        #expect(boundary.utf8.count >= 24)
        let body = fixture.bytes(answer)
        #expect(Int64(body.count) == answer.content.length)
        let expected =
            Array(
                "--\(boundary)\r\nContent-Type: image/png\r\nContent-Range: bytes 0-1/1000\r\n\r\n"
                    .utf8)
            + fixture.bytes[0...1]
            + Array(
                "\r\n--\(boundary)\r\nContent-Type: image/png\r\nContent-Range: bytes 500-502/1000\r\n\r\n"
                    .utf8)
            + fixture.bytes[500...502] + Array("\r\n--\(boundary)--\r\n".utf8)
        #expect(body == expected)
    }

    @Test(
        arguments: [
            ([("If-Match", "\"other\"")], 412),
            ([("If-Match", "*")], 200),
            ([("If-Match", "W/TAG")], 412),
            ([("If-Match", "\"x\", TAG")], 200),
            ([("If-Unmodified-Since", "Sun, 17 Mar 2030 17:46:39 GMT")], 412),
            ([("If-Unmodified-Since", "Sun, 17 Mar 2030 17:46:40 GMT")], 200),
            ([("If-Unmodified-Since", "garbage")], 200),
            ([("If-Match", "TAG"), ("If-Unmodified-Since", "Sun, 17 Mar 2030 17:46:39 GMT")], 200),
            ([("If-None-Match", "TAG")], 304),
            ([("If-None-Match", "W/TAG")], 304),
            ([("If-None-Match", "\"a,b\", TAG")], 304),
            ([("If-None-Match", "*")], 304),
            (
                [
                    ("If-None-Match", "\"x\""),
                    ("If-Modified-Since", "Sun, 17 Mar 2030 17:46:40 GMT"),
                ], 200
            ),
            ([("If-Modified-Since", "Sun, 17 Mar 2030 17:46:40 GMT")], 304),
            ([("If-Modified-Since", "Sun, 17 Mar 2030 17:46:39 GMT")], 200),
            ([("If-Match", "\"x\""), ("If-None-Match", "TAG")], 412),
            ([("If-None-Match", "TAG"), ("Range", "bytes=0-1")], 304),
        ] as [([(String, String)], Int)])
    func `preconditions are evaluated in order (9.3)`(
        fields: [(String, String)], status: Int
    ) async throws {
        #expect(try await fixture.get(fixture.replacingTag(fields)).status.code == status)
    }

    @Test(arguments: [
        ("TAG", 206), ("W/TAG", 200), ("\"x\"", 200), ("garbage", 200),
        ("Sun, 17 Mar 2030 17:46:40 GMT", 206), ("Sun, 17 Mar 2030 17:46:41 GMT", 200),
    ])
    func `If-Range needs a strong match (9.4)`(value: String, status: Int) async throws {
        let fields = fixture.replacingTag([("If-Range", value), ("Range", "bytes=0-1")])
        #expect(try await fixture.get(fields).status.code == status)
    }

    @Test func `304 has validators and no type (9.3)`() async throws {
        let answer = try await fixture.get([("If-None-Match", fixture.tag)])
        #expect(answer.fields["ETag"] == fixture.tag)
        #expect(answer.fields["Content-Type"] == nil)
        #expect(answer.fields["Cache-Control"]?.hasPrefix("private") == true)
    }

    @Test func `an incomplete content has no download (9.1)`() async throws {
        let url = fixture.downloads.signedURL(
            content: "0190aaaa-0000-7000-8000-00000000ffff", fileName: nil, at: DownloadFixture.now
        ).url
        #expect(await fixture.send(.get, url).status == .notFound)
    }

    @Test(arguments: [
        ("text/html", "attachment"), ("image/svg+xml", "attachment"), ("text/xml", "attachment"),
        ("application/xhtml+xml", "attachment"), ("application/pdf", "attachment"),
        ("text/javascript", "attachment"), ("text/css", "attachment"), ("x/y", "attachment"),
        ("image/tiff", "attachment"), ("audio/x-wav", "attachment"),
        ("TEXT/plain; charset=utf-8", "inline"), ("image/png", "inline"), ("image/jpeg", "inline"),
        ("image/gif", "inline"), ("image/webp", "inline"), ("image/avif", "inline"),
        ("image/bmp", "inline"), ("audio/mpeg", "inline"), ("audio/mp4", "inline"),
        ("audio/aac", "inline"), ("audio/ogg", "inline"), ("audio/wav", "inline"),
        ("audio/webm", "inline"), ("audio/flac", "inline"), ("video/mp4", "inline"),
        ("video/webm", "inline"), ("video/ogg", "inline"), ("video/quicktime", "inline"),
    ])
    func `only types that no browser executes are shown inline (9.7)`(
        type: String, kind: String
    ) async throws {
        let fixture = DownloadFixture(mediaType: type)
        let answer = try await fixture.get()
        #expect(answer.fields["Content-Disposition"]?.hasPrefix(kind) == true)
        #expect(answer.fields["Content-Type"] == type)
    }

    @Test(arguments: [
        ("image/png\r\nSet-Cookie: a=b", "application/octet-stream"),
        ("image", "application/octet-stream"),
        ("image/p ng", "application/octet-stream"), ("a/b; x=\u{7F}", "application/octet-stream"),
        ("a/" + String(repeating: "b", count: 254), "application/octet-stream"),
        ("a/b; x=\"y z\"", "a/b; x=\"y z\""),
    ])
    func `a type that could break a header becomes octet-stream (9.7)`(
        type: String, served: String
    ) async throws {
        let answer = try await DownloadFixture(mediaType: type).get()
        #expect(answer.fields["Content-Type"] == served)
        #expect(answer.fields["Content-Disposition"]?.hasPrefix("attachment") == true)
    }

    @Test(arguments: [
        ("a.png", #"filename="a.png"; filename*=UTF-8''a.png"#),
        ("../../etc/passwd", #"filename="passwd"; filename*=UTF-8''passwd"#),
        (#"C:\x\y.png"#, #"filename="y.png"; filename*=UTF-8''y.png"#),
        ("..", #"filename="content"; filename*=UTF-8''content"#),
        ("a\r\nX: y\0.png", #"filename="aX: y.png"; filename*=UTF-8''aX%3A%20y.png"#),
        (#"a"b.png"#, #"filename="a\"b.png"; filename*=UTF-8''a%22b.png"#),
        ("é.png", #"filename="_.png"; filename*=UTF-8''%C3%A9.png"#),
    ])
    func `a file name is in the header in its two forms (9.7)`(
        name: String, field: String
    ) async throws {
        let answer = try await DownloadFixture(fileName: name).get()
        #expect(answer.fields["Content-Disposition"] == "inline; \(field)")
    }

    @Test func `HEAD has the headers of GET (9.1)`() async throws {
        let (get, head) = try await (fixture.get(), fixture.get(method: .head))
        #expect(head.status == .ok)
        #expect(head.fields.bytes == get.fields.bytes)
        #expect(head.content.length == get.content.length)
    }

    @Test(arguments: [HTTP.Method.put, .post, .patch, .delete])
    func `other methods are not allowed (9.1)`(method: HTTP.Method) async throws {
        let answer = await fixture.send(method, fixture.url)
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.fields["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test func `a preflight lists the allowed methods and headers (3.7, 9.1)`() async throws {
        let preflight = await fixture.send(
            .options, fixture.url,
            [("Origin", "https://a.example"), ("Access-Control-Request-Method", "GET")])
        #expect(preflight.status == .noContent)
        #expect(preflight.fields["Access-Control-Allow-Origin"] == "*")
        let headers = try #require(preflight.fields["Access-Control-Allow-Headers"])
        for name in ["Range", "If-Range", "If-Match", "Want-Repr-Digest", "Want-Content-Digest"] {
            #expect(headers.split(separator: ", ").contains(Substring(name)))
        }
        #expect(preflight.fields["Access-Control-Max-Age"] == "86400")
    }

    @Test func `a cache may store it as long as its URL is valid, for a day at most (9.7)`()
        async throws
    {
        let ticket = DownloadTicket(
            content: DownloadFixture.id, fileName: "a.png",
            expires: DownloadFixture.now / 1000 + 1_000_000)
        let answer = await fixture.send(
            .get, ticket.signed(by: fixture.keys, at: DownloadFixture.now))
        #expect(answer.fields["Cache-Control"] == "private, max-age=86400, immutable")
        fixture.time.withLock { $0 += 8_030_000 }
        let late = await fixture.send(.get, fixture.url)
        #expect(late.fields["Cache-Control"] == "private, max-age=0, immutable")
    }

    @Test func `only the recorded origin may read it (3.7)`() async throws {
        let fixture = DownloadFixture(origin: "https://own.example")
        let own = try await fixture.get([("Origin", "https://own.example")])
        #expect(own.fields["Access-Control-Allow-Origin"] == "https://own.example")
        let foreign = try await fixture.get([("Origin", "https://other.example")])
        #expect(foreign.fields["Access-Control-Allow-Origin"] == nil)
        #expect(foreign.fields["Vary"] == "Origin")
    }
}
