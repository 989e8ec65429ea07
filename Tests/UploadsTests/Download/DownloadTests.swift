import Base64
import Blobs
import HTTP
import Testing

@testable import Uploads

@Suite struct `Downloading a content` {
    private let house = Shelf()

    @Test func `everything comes with validators, digests and safety fields (9.1, 9.7)`()
        async throws
    {
        let answer = try await house.get()
        #expect(answer.status == .ok)
        #expect(answer.content.length == 1000)
        #expect(answer.fields["ETag"] == house.tag)
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
            answer.fields["Repr-Digest"] == "sha-256=:\(Base64.encode(house.content.sha256)):")
        #expect(answer.fields["X-Goog-Stored-Content-Length"] == "1000")
    }

    @Test func `a range is 206 with its place and its length (9.4)`() async throws {
        let answer = try await house.get([("Range", "bytes=990-2000")])
        #expect(answer.status == .partialContent)
        #expect(answer.fields["Content-Range"] == "bytes 990-999/1000")
        #expect(house.bytes(answer) == Array(house.bytes[990...]))
    }

    @Test func `nothing to be had is 416 with the size (9.4)`() async throws {
        let answer = try await house.get([("Range", "bytes=1000-")])
        #expect(answer.status == .rangeNotSatisfiable)
        #expect(answer.fields["Content-Range"] == "bytes */1000")
        #expect(answer.fields["Cache-Control"] == "no-store")
        #expect(answer.text.contains("\"error\""))
    }

    @Test func `HEAD ignores ranges (9.4)`() async throws {
        let answer = try await house.get([("Range", "bytes=0-1")], method: .head)
        #expect(answer.status == .ok)
        #expect(answer.content.length == 1000)
    }

    @Test func `several ranges are one multipart of exact length (9.4)`() async throws {
        let answer = try await house.get([("Range", "bytes=0-1,500-502")])
        #expect(answer.status == .partialContent)
        #expect(answer.fields["Content-Range"] == nil)
        let type = try #require(answer.fields["Content-Type"])
        let boundary = String(type.dropFirst("multipart/byteranges; boundary=".count))
        #expect(boundary.utf8.count >= 24)
        let body = house.bytes(answer)
        #expect(Int64(body.count) == answer.content.length)
        let expected =
            Array(
                "--\(boundary)\r\nContent-Type: image/png\r\nContent-Range: bytes 0-1/1000\r\n\r\n"
                    .utf8)
            + house.bytes[0...1]
            + Array(
                "\r\n--\(boundary)\r\nContent-Type: image/png\r\nContent-Range: bytes 500-502/1000\r\n\r\n"
                    .utf8)
            + house.bytes[500...502] + Array("\r\n--\(boundary)--\r\n".utf8)
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
    func `preconditions are judged in order (9.3)`(
        fields: [(String, String)], status: Int
    ) async throws {
        #expect(try await house.get(house.naming(fields)).status.code == status)
    }

    @Test(arguments: [
        ("TAG", 206), ("W/TAG", 200), ("\"x\"", 200), ("garbage", 200),
        ("Sun, 17 Mar 2030 17:46:40 GMT", 206), ("Sun, 17 Mar 2030 17:46:41 GMT", 200),
    ])
    func `If-Range wants a strong match (9.4)`(value: String, status: Int) async throws {
        let fields = house.naming([("If-Range", value), ("Range", "bytes=0-1")])
        #expect(try await house.get(fields).status.code == status)
    }

    @Test func `304 has validators and no type (9.3)`() async throws {
        let answer = try await house.get([("If-None-Match", house.tag)])
        #expect(answer.fields["ETag"] == house.tag)
        #expect(answer.fields["Content-Type"] == nil)
        #expect(answer.fields["Cache-Control"]?.hasPrefix("private") == true)
    }

    @Test func `the digest of a part is sent when asked for (9.5)`() async throws {
        let silent = try await house.get([("Range", "bytes=0-1")])
        #expect(silent.fields["Content-Digest"] == nil)
        let asked = try await house.get(
            [("Range", "bytes=0-1"), ("Want-Content-Digest", "sha-256=3")])
        let digest = Base64.encode(SHA256.digest(of: Array(house.bytes[0...1])))
        #expect(asked.fields["Content-Digest"] == "sha-256=:\(digest):")
        let unwanted = try await house.get([("Want-Repr-Digest", "sha-256=0")])
        #expect(unwanted.fields["Repr-Digest"] == nil)
    }

    @Test func `what is not complete has no download (9.1)`() async throws {
        let url = house.downloads.signedURL(
            content: "0190aaaa-0000-7000-8000-00000000ffff", fileName: nil, at: Shelf.now
        ).url
        #expect(await house.send(.get, url).status == .notFound)
    }

    @Test(arguments: [
        ("text/html", "attachment"), ("image/svg+xml", "attachment"),
        ("TEXT/plain; charset=utf-8", "inline"), ("application/pdf", "attachment"),
    ])
    func `only what no browser runs is shown in place (9.7)`(
        type: String, kind: String
    ) async throws {
        let shelf = Shelf(mediaType: type)
        let answer = try await shelf.get()
        #expect(answer.fields["Content-Disposition"]?.hasPrefix(kind) == true)
        #expect(answer.fields["Content-Type"] == type)
    }

    @Test func `the recorded origin alone may read it (3.7)`() async throws {
        let shelf = Shelf(origin: "https://own.example")
        let own = try await shelf.get([("Origin", "https://own.example")])
        #expect(own.fields["Access-Control-Allow-Origin"] == "https://own.example")
        let foreign = try await shelf.get([("Origin", "https://other.example")])
        #expect(foreign.fields["Access-Control-Allow-Origin"] == nil)
        #expect(foreign.fields["Vary"] == "Origin")
    }
}
