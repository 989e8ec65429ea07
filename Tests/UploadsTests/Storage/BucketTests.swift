import Blobs
import Bytes
import FoundationEssentials
import Glibc
import HTTP
import HTTPClient
import ObjectStore
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// 20 MiB and a bit: two parts of 8 MiB, and a rest.
private let bytes = patternBytes(20 << 20 | 12_345)
private let total = bytes.count

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `An upload to a bucket` {
    private let bucket = ContentBucket.scratch()
    private let fixture: UploadFixture

    init() { fixture = UploadFixture(bucket: bucket) }

    private var name: BlobName {
        get throws { try #require(BlobName(UploadFixture.content)) }
    }

    private var object: ObjectSummary? {
        get async throws { try await bucket.store.head(ContentBucket.key(of: name)) }
    }

    private var isWhole: Bool {
        fixture.finisher.finished.withLock { $0.last?.content.sha256 } == SHA256.digest(of: bytes)
    }

    /// Waits until `count` parts are in the bucket; they are moved in the background.
    private func movedParts(_ count: Int, of uploads: Uploads) async throws -> JournaledParts {
        let uploader = try #require(uploads.engine.storage.uploader(of: name))
        while true {
            if let movedParts = try await uploader.known(), movedParts.tags.count == count {
                return movedParts
            }
            await pause(milliseconds: 1)
        }
    }

    /// The bytes that the staged file occupies on the disk; 0 when there is none.
    private var stagedBytes: Int {
        var status = stat()
        return stat(fixture.stagedPath, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }

    private func begun(upTo end: Int) async throws -> (uploads: Uploads, url: String) {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(total)))
        let answer = await uploads.put(url, "bytes 0-\(end - 1)/\(total)", Array(bytes[..<end]))
        #expect(answer.fields["Range"] == "bytes=0-\(end - 1)")
        return (uploads, url)
    }

    @Test(arguments: [0, 1, 8 << 20])
    func `of a short content is one object, and leaves no file here (10.2)`(size: Int)
        async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(
            UploadFixture.draft(length: size == 0 ? nil : Int64(size)))
        let body = Array(bytes[..<size])
        #expect(await uploads.send(.put, url, [], ScriptedBody(body)).status == .ok)
        let object = try #require(try await object)
        // The ETag of a multipart object would end in the number of parts.
        #expect(object.size == Int64(size))
        #expect(!object.tag.contains("-"))
        #expect(object.type == "image/png")
        #expect(try uploads.blobs.stagedEntries().isEmpty)
        #expect(try !uploads.blobs.contains(name))
        #expect(await uploads.bytes(of: UploadFixture.content) == body)
    }

    @Test func `is moved part by part while more arrives, and is stored unchanged (10.5, 10.6)`()
        async throws
    {
        let (uploads, url) = try await begun(upTo: 17 << 20)
        #expect(try await movedParts(2, of: uploads).partSize == 8 << 20)
        #expect(stagedBytes < 2 << 20)
        #expect(await uploads.offset(url) == "\(17 << 20)")
        let answer = await uploads.put(
            url, "bytes \(17 << 20)-\(total - 1)/\(total)", Array(bytes[(17 << 20)...]))
        #expect(answer.status == .ok)
        #expect(try await object?.tag.hasSuffix("-3\"") == true)
        #expect(try uploads.blobs.stagedEntries().isEmpty)
        #expect(try !Uploads.needsBucket(in: fixture.folder))
        #expect(isWhole)
        #expect(await uploads.bytes(of: UploadFixture.content) == bytes)
        #expect(try await bucket.store.openMultipartUploads().all().isEmpty)
    }

    @Test
    func `continues after a crash with parts that were moved and bytes that were not (10.5, 11.3)`()
        async throws
    {
        let (before, url) = try await begun(upTo: 10 << 20)
        _ = try await movedParts(1, of: before)
        let uploads = try await fixture.open()
        #expect(await uploads.offset(url) == "\(10 << 20)")
        let answer = await uploads.put(
            url, "bytes \(10 << 20)-\(total - 1)/\(total)", Array(bytes[(10 << 20)...]))
        #expect(answer.status == .ok)
        #expect(isWhole)
        #expect(await uploads.bytes(of: UploadFixture.content) == bytes)
    }

    @Test func `is moved at the start after a crash (10.5, 11.2)`() async throws {
        let disk = UploadFixture(on: fixture.temporary.path, bucket: nil)
        let before = try await disk.open()
        let url = try await before.create(UploadFixture.draft(length: Int64(total)))
        _ = await before.put(url, "bytes 0-\(10 << 20)/\(total)", Array(bytes[...(10 << 20)]))
        let whole = stagedBytes
        #expect(whole > 10 << 20)
        let uploads = try await fixture.open()
        _ = try await movedParts(1, of: uploads)
        #expect(stagedBytes <= whole - 8 << 20)
        #expect(await uploads.offset(url) == "\(10 << 20 | 1)")
    }

    @Test func `is recognised by its object when the store's last response was lost (10.3)`()
        async throws
    {
        let (uploads, url) = try await begun(upTo: total - 1)
        let movedParts = try await movedParts(2, of: uploads)
        let key = ContentBucket.key(of: try name)
        let rest = try await bucket.store.putPart(
            key, upload: movedParts.upload, number: 3, .bytes(Array(bytes[(16 << 20)...])))
        try await bucket.store.complete(
            key, upload: movedParts.upload, movedParts.parts(of: Int64(total)) + [rest])
        // The store no longer knows the upload, as after a completion whose response was lost.
        let journal = try #require(
            try JournalFolder(at: "\(fixture.folder)/parts").open(name))
        try journal.append(JournaledParts.entry(rest.tag))
        let reopened = try await fixture.open()
        let answer = await reopened.put(
            url, "bytes \(total - 1)-\(total - 1)/\(total)", [bytes[total - 1]])
        #expect(answer.status == .ok)
        #expect(isWhole)
        #expect(try !Uploads.needsBucket(in: fixture.folder))
    }

    @Test func `fails when the store has lost its parts (1.3, 10.3)`() async throws {
        let (uploads, url) = try await begun(upTo: 10 << 20)
        let movedParts = try await movedParts(1, of: uploads)
        try await bucket.store.abort(ContentBucket.key(of: name), upload: movedParts.upload)
        let answer = await uploads.put(
            url, "bytes \(10 << 20)-\(total - 1)/\(total)", Array(bytes[(10 << 20)...]))
        #expect(answer.status == .gone)
        #expect(await uploads.put(url, "bytes */*").status == .gone)
        #expect(try uploads.blobs.stagedEntries().isEmpty)
        #expect(try await object == nil)
    }

    @Test func `leaves nothing in the store when it is cancelled (10.3)`() async throws {
        let (uploads, url) = try await begun(upTo: 10 << 20)
        _ = try await movedParts(1, of: uploads)
        #expect(try Uploads.needsBucket(in: fixture.folder))
        #expect(await uploads.send(.delete, url).status.code == 499)
        while try Uploads.needsBucket(in: fixture.folder) { await pause(milliseconds: 1) }
        #expect(try await bucket.store.openMultipartUploads().all().isEmpty)
        #expect(try uploads.blobs.stagedEntries().isEmpty)
    }

    @Test func `leaves nothing in the store after a wrong digest (1.3)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(total)))
        let fields = [("X-Goog-Hash", "crc32c=AAAAAA==")]
        let answer = await uploads.send(.put, url, fields, ScriptedBody(bytes))
        #expect(answer.status == .badRequest)
        #expect(try await object == nil)
        #expect(try await bucket.store.openMultipartUploads().all().isEmpty)
        #expect(fixture.finisher.finished.withLock { $0.isEmpty })
    }

    @Test func `computes digests that were requested late once it is complete (4.5)`() async throws
    {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(total)))
        let half = 10 << 20
        let patch = await uploads.patch(url, at: 0, Array(bytes[..<half]))
        #expect(patch.status == .noContent)
        _ = try await movedParts(1, of: uploads)
        // MD5 is requested only now.
        let answer = await uploads.put(
            url, "bytes \(half)-\(total - 1)/\(total)", Array(bytes[half...]))
        #expect(answer.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.last?.content.md5 } == MD5.digest(of: bytes))
        #expect(isWhole)
    }

    @Test func `joined from tus parts is moved there too (6.10, 10.6)`() async throws {
        let uploads = try await fixture.open()
        var urls: [String] = []
        for (number, range) in [0..<9 << 20, 9 << 20..<total].enumerated() {
            let made = await uploads.create([
                ("Upload-Concat", "partial"), ("Upload-Length", "\(range.count)"),
                ("Test-Content", UploadFixture.content(number: number + 1)),
            ])
            let url = try #require(made.fields["Location"])
            #expect(await uploads.patch(url, at: 0, Array(bytes[range])).status == .noContent)
            urls.append(url)
        }
        let list = "final;" + urls.joined(separator: " ")
        #expect(await uploads.create([("Upload-Concat", list)]).status == .created)
        #expect(try await object?.size == Int64(total))
        #expect(await uploads.bytes(of: UploadFixture.content) == bytes)
    }

    @Test func `is aborted in the store when no record here names it (11.8)`() async throws {
        let uploads = try await fixture.open()
        _ = try await bucket.store.createMultipartUpload(
            ContentBucket.key(of: name), type: "image/png")
        // The fixture's clock is years ahead of the store's.
        await uploads.sweep()
        #expect(try await bucket.store.openMultipartUploads().all().isEmpty)
    }

    @Test func `is deleted when it is unused (11.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        _ = await uploads.send(.put, url, [], ScriptedBody([1, 2, 3]))
        let content = AbandonedContent(application: "app", contentID: UploadFixture.content)
        fixture.finisher.unneeded.withLock { $0 = [content] }
        await uploads.sweep()
        #expect(uploads.statistics.erasedBytes == 3)
        #expect(try await object == nil)
    }

    @Test func `that was complete on the disk stays there (10.5)`() async throws {
        let disk = UploadFixture(on: fixture.temporary.path, bucket: nil)
        let before = try await disk.open()
        let url = try await before.create(UploadFixture.draft(length: 3))
        _ = await before.send(.put, url, [], ScriptedBody([1, 2, 3]))
        let uploads = try await fixture.open()
        #expect(await uploads.bytes(of: UploadFixture.content) == [1, 2, 3])
        #expect(try await object == nil)
    }
}

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `A bucket that accepts nothing` {
    @Test func `makes the client wait after two parts, and no other client (10.5, 11.4)`()
        async throws
    {
        let fixture = UploadFixture(bucket: .scratch("fault.SlowDown.100000.PUT"))
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 60 << 20))
        let body = ScriptedBody(
            Array(repeating: .bytes([UInt8](repeating: 7, count: 1 << 20)), count: 60),
            length: 60 << 20)
        async let stopped = uploads.send(.put, url, [], body)
        // Buffers of 128 KiB, and three parts of 8 MiB.
        while body.reads < 192 { await pause(milliseconds: 1) }
        for _ in 0..<1000 { await Task.yield() }
        #expect(body.reads == 192)
        // A newer request takes over at once, and the offset is unchanged.
        #expect(await uploads.put(url, "bytes */*").fields["Range"] == "bytes=0-\(24 << 20 - 1)")
        #expect(await stopped.ending == .drop)
    }

    @Test func `answers A and B with Retry-After, and disconnects C (7.11, 12)`()
        async throws
    {
        // Bytes of a shared upload count once they are in the bucket.
        let fixture = UploadFixture(
            bucket: .scratch("fault.SlowDown.100000.PUT", registry: InMemoryRegistry()))
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 10))
        for answer in [
            await uploads.put(url, "bytes 0-1/10", [1, 2]),
            await uploads.patch(url, at: 0, [1, 2]),
        ] {
            #expect(answer.status == .serviceUnavailable)
            #expect(answer.fields["Retry-After"] == "1")
        }
        let version = ("Upload-Draft-Interop-Version", "6")
        let append = await uploads.send(
            .patch, url,
            [
                version, ("Upload-Offset", "0"), ("Upload-Complete", "?0"),
                ("Content-Type", "application/partial-upload"),
            ], ScriptedBody([1, 2]))
        #expect(append.ending == .drop)
        #expect(await uploads.send(.head, url, [version]).fields["Upload-Offset"] == "0")
    }
}
