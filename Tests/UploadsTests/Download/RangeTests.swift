import HTTP
import Testing

@testable import Uploads

@Suite struct `Ranges of a content` {
    /// A Range header with the expected status and the ranges of the response.
    struct Case: Sendable, CustomTestStringConvertible {
        let field: String
        let status: Int
        let ranges: [String]
        var testDescription: String { field }

        init(_ field: String, _ status: Int, _ ranges: String...) {
            (self.field, self.status, self.ranges) = (field, status, ranges)
        }
    }

    @Test(arguments: [
        // Wrong syntax, another unit, the end before the beginning: ignored.
        Case("bytes", 200), Case("bytes=", 200), Case("bytes=a-b", 200), Case("bytes=1", 200),
        Case("bytes=-", 200), Case("bytes=5-4", 200), Case("bytes=0-1,5-4", 200),
        Case("items=0-1", 200), Case("bytes 0-1", 200), Case("bytes=0-1;x", 200),
        Case("bytes=+0-1", 200), Case("bytes=0x0-1", 200), Case("bytes=--1", 200),
        // One range.
        Case("bytes=0-0", 206, "bytes 0-0/1000"), Case("BYTES=0-1", 206, "bytes 0-1/1000"),
        Case("bytes=990-2000", 206, "bytes 990-999/1000"),
        Case("bytes=0-", 206, "bytes 0-999/1000"), Case("bytes=999-", 206, "bytes 999-999/1000"),
        Case("bytes=-1", 206, "bytes 999-999/1000"), Case("bytes=-1000", 206, "bytes 0-999/1000"),
        Case("bytes=-5000", 206, "bytes 0-999/1000"),
        Case("bytes=0-99999999999999999999", 206, "bytes 0-999/1000"),
        Case("bytes=-99999999999999999999", 206, "bytes 0-999/1000"),
        // No range is satisfiable.
        Case("bytes=1000-", 416, "bytes */1000"), Case("bytes=1000-1001", 416, "bytes */1000"),
        Case("bytes=-0", 416, "bytes */1000"), Case("bytes=-0,5000-", 416, "bytes */1000"),
        Case("bytes=99999999999999999999-", 416, "bytes */1000"),
        // Some ranges are satisfiable.
        Case("bytes=0-1,5000-", 206, "bytes 0-1/1000"), Case("bytes=-0,0-1", 206, "bytes 0-1/1000"),
        Case("bytes=0-1, ,200-201", 206, "bytes 0-1/1000", "bytes 200-201/1000"),
        // Adjacent ranges are merged, in the order of first appearance.
        Case("bytes=0-9,5-20", 206, "bytes 0-20/1000"),
        Case("bytes=0-9,90-99", 206, "bytes 0-99/1000"),
        Case("bytes=0-9,91-99", 206, "bytes 0-9/1000", "bytes 91-99/1000"),
        Case("bytes=500-501,0-1", 206, "bytes 500-501/1000", "bytes 0-1/1000"),
        Case("bytes=500-501,0-1,520-521", 206, "bytes 500-521/1000", "bytes 0-1/1000"),
        // As large as the whole content, or too many.
        Case("bytes=0-499,500-999", 200), Case("bytes=0-,-1", 200),
        Case(
            "bytes=0-0,100-100,200-200,300-300,400-400,500-500,600-600,700-700", 206,
            "bytes 0-0/1000", "bytes 100-100/1000", "bytes 200-200/1000", "bytes 300-300/1000",
            "bytes 400-400/1000", "bytes 500-500/1000", "bytes 600-600/1000",
            "bytes 700-700/1000"),
        Case("bytes=0-0,100-100,200-200,300-300,400-400,500-500,600-600,700-700,800-800", 200),
    ])
    func `are answered as in the table (9.4)`(row: Case) async throws {
        let fixture = DownloadFixture()
        let answer = try await fixture.get([("Range", row.field)])
        #expect(answer.status.code == row.status)
        #expect(fixture.ranges(answer) == row.ranges)
        #expect(Int64(fixture.bytes(answer).count) == answer.content.length)
    }

    @Test(arguments: [
        Case("bytes=0-", 416, "bytes */0"), Case("bytes=5-9", 416, "bytes */0"),
        Case("bytes=-0", 416, "bytes */0"), Case("bytes=-5", 200), Case("bytes=0-,-5", 200),
    ])
    func `of an empty content are empty, except for a suffix (9.4)`(row: Case) async throws {
        let fixture = DownloadFixture(size: 0)
        let answer = try await fixture.get([("Range", row.field)])
        #expect(answer.status.code == row.status)
        #expect(fixture.ranges(answer) == row.ranges)
        #expect(answer.status != .ok || answer.content.length == 0)
    }

    @Test func `have the headers of the whole content (9.4)`() async throws {
        let fixture = DownloadFixture(md5: [UInt8](repeating: 7, count: 16))
        let whole = try await fixture.get()
        let part = try await fixture.get([("Range", "bytes=5-9")])
        for name in [
            "ETag", "Last-Modified", "Accept-Ranges", "Cache-Control", "Content-Disposition",
            "Repr-Digest", "X-Goog-Hash", "X-Goog-Stored-Content-Length", "Content-Type",
            "Content-Security-Policy", "Cross-Origin-Resource-Policy", "Referrer-Policy",
            "Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
        ] as [FieldName] {
            #expect(whole.fields[name] != nil, "\(name)")
            #expect(part.fields[name] == whole.fields[name], "\(name)")
        }
        #expect(whole.fields["X-Goog-Hash"] == "crc32c=AAAAAQ==,md5=BwcHBwcHBwcHBwcHBwcHBw==")
        #expect(part.content.length == 5)
    }

    @Test func `are ignored when repeated, like If-Range without Range (9.4)`() async throws {
        let fixture = DownloadFixture()
        let twice = try await fixture.get([("Range", "bytes=0-1"), ("Range", "bytes=5-6")])
        #expect(twice.status == .ok)
        #expect(try await fixture.get([("If-Range", "\"other\"")]).status == .ok)
    }
}

extension DownloadFixture {
    /// The `Content-Range` of a response or of its parts.
    fileprivate func ranges(_ answer: Response) -> [String] {
        if let place = answer.fields["Content-Range"] { return [place] }
        guard answer.fields["Content-Type"]?.hasPrefix("multipart/") == true else { return [] }
        // The bytes of the content contain no such line.
        return String(decoding: bytes(answer), as: UTF8.self).split(separator: "\r\n")
            .compactMap { line in
                line.hasPrefix("Content-Range: ") ? String(line.dropFirst(15)) : nil
            }
    }
}
