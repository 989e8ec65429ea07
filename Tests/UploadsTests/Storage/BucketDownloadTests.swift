import Blobs
import Bytes
import HTTP
import HTTPClient
import ObjectStore
import TestSupport
import Testing

@testable import Uploads

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `A download from a bucket` {
    private let bucket: ContentBucket
    private let fixture: DownloadFixture

    init() {
        bucket = .scratch()
        fixture = DownloadFixture(size: 700_000, in: bucket)
    }

    private func store(_ bytes: [UInt8], in bucket: ContentBucket) async throws {
        let key = ContentBucket.key(of: try #require(BlobName(DownloadFixture.id)))
        _ = try await bucket.store.put(key, .bytes(bytes), type: "image/png")
    }

    @Test func `has the bytes and headers of a download from the disk (9.1, 10.6)`() async throws {
        try await store(fixture.bytes, in: bucket)
        let response = try await fixture.get()
        #expect(response.status == .ok)
        #expect(response.content.length == 700_000)
        #expect(await fixture.streamedBytes(response) == fixture.bytes)
        let disk = try await DownloadFixture(size: 700_000).get()
        #expect(response.fields.bytes == disk.fields.bytes)
    }

    @Test func `of a range requests only that range from the store (9.4)`() async throws {
        try await store(fixture.bytes, in: bucket)
        let response = try await fixture.get([("Range", "bytes=500-600499")])
        #expect(response.status == .partialContent)
        #expect(response.fields["Content-Range"] == "bytes 500-600499/700000")
        #expect(await fixture.streamedBytes(response) == Array(fixture.bytes[500..<600_500]))
    }

    @Test func `of several ranges is a multipart of a stated length (9.4)`() async throws {
        try await store(fixture.bytes, in: bucket)
        let response = try await fixture.get([("Range", "bytes=0-9,600000-600009")])
        #expect(response.status == .partialContent)
        let bytes = try #require(await fixture.streamedBytes(response))
        for range in [0..<10, 600_000..<600_010] {
            #expect(bytes.firstRange(of: fixture.bytes[range]) != nil)
        }
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("--\r\n"))
    }

    @Test func `has the digest of a part when it is requested (9.5)`() async throws {
        try await store(fixture.bytes, in: bucket)
        let response = try await fixture.get([
            ("Range", "bytes=0-99"), ("Want-Content-Digest", "sha-256=1"),
        ])
        let digest = Base64.encode(SHA256.digest(of: Array(fixture.bytes[..<100])))
        #expect(response.fields["Content-Digest"] == "sha-256=:\(digest):")
    }

    @Test func `answers HEAD and a match without the store (9.1, 9.3)`() async throws {
        let head = try await fixture.get(method: .head)
        #expect(head.status == .ok)
        #expect(head.content.length == 700_000)
        let match = try await fixture.get([("If-None-Match", fixture.tag)])
        #expect(match.status == .notModified)
    }

    @Test func `that is missing or too short is reported before the head is sent (9.1)`()
        async throws
    {
        #expect(try await fixture.get().status == .notFound)
        try await store([1, 2, 3], in: bucket)
        #expect(try await fixture.get().status == .internalServerError)
    }

    @Test func `gets 503 with Retry-After while the store fails (10.3)`() async throws {
        let bucket = ContentBucket.scratch("fault.SlowDown.100000.GET")
        let fixture = DownloadFixture(in: bucket)
        try await store(fixture.bytes, in: bucket)
        let response = try await fixture.get()
        #expect(response.status == .serviceUnavailable)
        #expect(response.fields["Retry-After"] == "1")
    }

    @Test func `can be redirected to the store, which sends the same headers (9.7, 10.6)`()
        async throws
    {
        let bucket = ContentBucket.scratch(redirects: true)
        let fixture = DownloadFixture(in: bucket)
        try await store(fixture.bytes, in: bucket)
        let response = try await fixture.get()
        #expect(response.status == .temporaryRedirect)
        #expect(response.fields["Cache-Control"] == "no-store")
        let url = try #require(response.fields["Location"])
        let answer = try await HTTPClient().send(
            ClientRequest(.get, url, fields: [("Range", "bytes=10-19")]), bodyLimit: 2000)
        #expect(answer.status == 206)
        #expect(answer.body == Array(fixture.bytes[10..<20]))
        #expect(answer.fields["Content-Type"] == "image/png")
        // Not every store used for tests sends it.
        #expect(url.contains("response-content-disposition=inline"))
        #expect(try await fixture.get(method: .head).status == .ok)
    }
}
