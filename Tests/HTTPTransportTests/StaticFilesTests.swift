import Glibc
import HTTP
import HTTPTransport
import TestSupport
import Testing

extension LiveServerTests {
    @Suite struct `A folder of files` {
        private let page = "<!doctype html><title>Parley</title>"

        /// Sends several requests on one connection.
        private func send(
            _ requests: [String], withoutContent: Bool = false
        ) async throws -> [Reply] {
            let folder = TemporaryFolder()
            try folder.write("page.html", page)
            try folder.write("page.html.gz", "coded")
            try folder.write("old.txt", "plain")
            try folder.write("old.txt.gz", "stale", modified: 784_111_776)
            try folder.write("large.bin", patternBytes(1 << 20))
            try folder.write("empty.css", "")
            try folder.write(".hidden", "secret")
            folder.folder("sub")
            try folder.write("sub/a b.json", "{}")
            folder.folder("sub/.git")
            try folder.write("sub/.git/config", "secret")
            folder.link("link.txt", to: "old.txt")
            let outside = TemporaryFolder()
            try outside.write("secret.txt", "secret")
            folder.link("out", to: outside.path)
            folder.link("passwd", to: "\(outside.path)/secret.txt")
            var options = StaticFiles.Options(prefix: "/files")
            options.hasCompressedSiblings = true
            let files = try StaticFiles(folder: folder.path, options)
            let service = TestService { request in
                files.answer(to: request) ?? Answer("", Response(.gone))
            }
            defer { withExtendedLifetime((folder, outside)) {} }
            return try await serving(service) { live in
                let client = try live.connect()
                return try requests.map { request in
                    try client.send(request)
                    return try client.answer(withoutContent: withoutContent)
                }
            }
        }

        private func send(_ request: String) async throws -> Reply {
            let replies = try await send([request])
            return try #require(replies.first)
        }

        @Test func `is served with type, length and validators (H94, H102)`() async throws {
            let reply = try await send(.head("GET /files/page.html HTTP/1.1"))
            #expect(reply.status == 200)
            #expect(reply.text == page)
            #expect(reply["Content-Type"] == "text/html; charset=utf-8")
            #expect(reply["Last-Modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(reply["Accept-Ranges"] == "bytes")
            #expect(reply["Cache-Control"] == "no-cache")
            #expect(reply["Referrer-Policy"] == "no-referrer")
            #expect(reply["X-Content-Type-Options"] == "nosniff")
            #expect(reply["ETag"].flatMap { EntityTag($0) } != nil)
        }

        @Test func `is served whole, with a large and an empty file (H88)`() async throws {
            let replies = try await send([
                .head("GET /files/large.bin HTTP/1.1"), .head("GET /files/empty.css HTTP/1.1"),
                .head("GET /files/sub/a%20b.json HTTP/1.1"),
            ])
            #expect(replies[0].content == patternBytes(1 << 20))
            #expect(replies[0]["Content-Type"] == "application/octet-stream")
            #expect(replies[1].status == 200)
            #expect(replies[1].content.isEmpty)
            #expect(replies[1]["Content-Type"] == "text/css; charset=utf-8")
            #expect(replies[2].text == "{}")
        }

        @Test func `HEAD has the same headers without content (H68)`() async throws {
            let replies = try await send(
                [.head("HEAD /files/large.bin HTTP/1.1")], withoutContent: true)
            #expect(replies[0].status == 200)
            #expect(replies[0]["Content-Length"] == "1048576")
        }

        @Test(arguments: [
            "none.html", "", "sub", "sub/", "page.html/", "page.html/x", ".hidden",
            "sub/.git/config", "link.txt", "out/secret.txt", "passwd", "sub%2Fa%20b.json",
            "Page.html", "page.html%20", "a//page.html", "%E4%B8%AD",
        ])
        func `a name that is no file in it is not found (H62, H63)`(name: String) async throws {
            let reply = try await send(.head("GET /files/\(name) HTTP/1.1"))
            #expect(reply.status == 404)
            #expect(reply["Cache-Control"] == "no-store")
            #expect(!reply.text.contains("secret"))
        }

        @Test(arguments: [
            "/files/../etc/passwd", "/files/%2e%2e/etc/passwd", "/files/sub/../page.html",
            "/files/./page.html", "/filesystem/page.html", "/files/page.html%00", "/other",
        ])
        func `paths outside its own are left to other routes (H61, H62)`(path: String) async throws
        {
            #expect(try await send(.head("GET \(path) HTTP/1.1")).status == 410)
        }

        @Test func `is revalidated by a cache (H100, H104)`() async throws {
            let first = try await send(.head("GET /files/page.html HTTP/1.1"))
            #expect(first.status == 200)
            let replies = try await send([
                .head("GET /files/page.html HTTP/1.1"),
                .head(
                    "GET /files/page.html HTTP/1.1",
                    "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"),
                .head("GET /files/page.html HTTP/1.1", "If-None-Match: *"),
                .head("GET /files/page.html HTTP/1.1", "If-Match: \"other\""),
            ])
            #expect(replies.map(\.status) == [200, 304, 304, 412])
            #expect(replies[1]["ETag"] == replies[0]["ETag"])
            #expect(replies[1]["Vary"] == "Accept-Encoding")
            #expect(replies[1]["Cache-Control"] == "no-cache")
            #expect(replies[1]["Content-Type"] == nil)
        }

        @Test func `is served in ranges (H106, H107, H110)`() async throws {
            let replies = try await send([
                .head("GET /files/large.bin HTTP/1.1", "Range: bytes=1000-1999"),
                .head("GET /files/large.bin HTTP/1.1", "Range: bytes=0-1,5000-5001"),
                .head("GET /files/large.bin HTTP/1.1", "Range: bytes=1048576-"),
                .head("GET /files/empty.css HTTP/1.1", "Range: bytes=0-"),
                .head("GET /files/large.bin HTTP/1.1", "Range: lines=0-1"),
            ])
            #expect(replies.map(\.status) == [206, 206, 416, 416, 200])
            let content = patternBytes(1 << 20)
            #expect(replies[0].content == Array(content[1000..<2000]))
            #expect(replies[0]["Content-Range"] == "bytes 1000-1999/1048576")
            #expect(replies[1]["Content-Type"]?.hasPrefix("multipart/byteranges; ") == true)
            #expect(replies[1]["Content-Range"] == nil)
            #expect(replies[2]["Content-Range"] == "bytes */1048576")
            #expect(replies[4].content.count == 1 << 20)
        }

        @Test
        func `is sent compressed where a compressed file lies beside it (H102, H106, H111, H112)`()
            async throws
        {
            let replies = try await send([
                .head("GET /files/page.html HTTP/1.1", "Accept-Encoding: gzip"),
                .head("GET /files/page.html HTTP/1.1"),
                .head(
                    "GET /files/page.html HTTP/1.1", "Accept-Encoding: gzip", "Range: bytes=0-1"),
                .head("GET /files/old.txt HTTP/1.1", "Accept-Encoding: gzip"),
                .head("GET /files/large.bin HTTP/1.1", "Accept-Encoding: gzip"),
            ])
            #expect(replies[0]["Content-Encoding"] == "gzip")
            #expect(replies[0]["Content-Type"] == "text/html; charset=utf-8")
            #expect(replies[0].text == "coded")
            #expect(replies[1].text == page)
            #expect(replies[0]["ETag"] != replies[1]["ETag"])
            #expect(replies[2].status == 200)
            #expect(replies[3].text == "plain", "the sibling is older")
            #expect(replies[4]["Content-Encoding"] == nil)
            #expect(replies.allSatisfy { $0["Vary"] == "Accept-Encoding" })
        }

        @Test func `allows only GET, HEAD and OPTIONS (H65, H69)`() async throws {
            let replies = try await send([
                .head("PUT /files/page.html HTTP/1.1", "Content-Length: 0"),
                .head("DELETE /files/page.html HTTP/1.1"),
                .head("OPTIONS /files/page.html HTTP/1.1"),
            ])
            #expect(replies.map(\.status) == [405, 405, 204])
            #expect(replies.allSatisfy { $0["Allow"] == "GET, HEAD, OPTIONS" })
        }

        @Test func `must exist`() {
            #expect(throws: SystemError.self) {
                try StaticFiles(folder: "/nowhere/at/all", .init(prefix: "/files"))
            }
        }
    }
}

extension TemporaryFolder {
    func write(_ name: String, _ bytes: [UInt8], modified: Int = 784_111_777) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw Client.Failure.system(errno) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { rest in
                Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            guard count > 0 else { throw Client.Failure.system(errno) }
            written += count
        }
        let time = timespec(tv_sec: modified, tv_nsec: 0)
        futimens(descriptor, [time, time])
    }

    func write(_ name: String, _ text: String, modified: Int = 784_111_777) throws {
        try write(name, Array(text.utf8), modified: modified)
    }

    func folder(_ name: String) { mkdir("\(path)/\(name)", 0o700) }

    func link(_ name: String, to target: String) { symlink(target, "\(path)/\(name)") }
}
