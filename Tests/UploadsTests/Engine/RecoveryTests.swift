import Blobs
import Bytes
import Glibc
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite struct `Recovering after a crash` {
    private let fixture = UploadFixture()
    private let bytes = patternBytes(50_000)

    /// Stores 20,000 bytes, then stops without a shutdown.
    private func crashed() async throws -> String {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 50_000))
        _ = await uploads.put(url, "bytes 0-19999/50000", Array(bytes[..<20_000]))
        return url
    }

    @Test func `bytes after the offset are truncated, the rest is the exact prefix (11.2, 11.3)`()
        async throws
    {
        let url = try await crashed()
        let file = open(fixture.stagedPath, O_WRONLY | O_APPEND)
        _ = [UInt8](repeating: 0xEE, count: 999).withUnsafeBytes {
            write(file, $0.baseAddress, $0.count)
        }
        close(file)
        let uploads = try await fixture.open()
        #expect(await uploads.offset(url) == "20000")
        let answer = await uploads.put(url, "bytes 20000-49999/50000", Array(bytes[20_000...]))
        #expect(answer.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.first?.content.sha256 }
                == SHA256.digest(of: bytes))
    }

    @Test(.enabled(if: UploadFixture.keepsRecords))
    func `a file shorter than the offset fails the upload (11.2)`()
        async throws
    {
        let url = try await crashed()
        truncate(fixture.stagedPath, 10)
        let uploads = try await fixture.open()
        #expect(await uploads.put(url, "bytes */*").status == .gone)
        #expect(await uploads.send(.head, url).status == .gone)
    }

    @Test func `finishing that was interrupted is repeated (11.2)`() async throws {
        fixture.finisher.behaviour.withLock { $0 = .breaks }
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let first = await uploads.send(.put, url, [], ScriptedBody([1, 2, 3]))
        #expect(first.status == .internalServerError)
        fixture.finisher.behaviour.withLock { $0 = .takes }
        // With shared records, the first finisher counts as alive for this long.
        fixture.pass(SharedUploadRecords.claimDuration)
        let reopened = try await fixture.open()
        #expect(await reopened.put(url, "bytes */*").status == .ok)
        #expect(fixture.finisher.finished.withLock { $0.first?.content.size } == 3)
    }

    @Test func `finishing runs once, also when no request waits for it any more (11.4)`()
        async throws
    {
        fixture.finisher.behaviour.withLock { $0 = .waits }
        let uploads = try await Uploads(
            folder: fixture.folder, settings: fixture.settings, finisher: fixture.finisher,
            clock: UploadFixture.fastClock(upTo: fixture.settings.finalizeWait),
            publicBase: "https://chat.example", bucket: fixture.bucket)
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        let first = await uploads.put(url, "bytes 0-2/3", [1, 2, 3])
        #expect(first.status == .serviceUnavailable)
        #expect(await uploads.put(url, "bytes */*").status == .serviceUnavailable)
        fixture.finisher.behaviour.withLock { $0 = .takes }
        while await uploads.put(url, "bytes */*").status != .ok { await Task.yield() }
        #expect(fixture.finisher.finished.withLock { $0.count } == 1)
    }

    @Test func `a content refused on finishing fails permanently (1.3)`() async throws {
        fixture.finisher.behaviour.withLock { $0 = .refuses }
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 3))
        #expect(await uploads.send(.put, url, [], ScriptedBody([1, 2, 3])).status == .badRequest)
        #expect(await uploads.put(url, "bytes */*").status == .gone)
        #expect(await uploads.bytes(of: UploadFixture.content) == nil)
    }

    @Test(.enabled(if: UploadFixture.keepsRecords))
    func `an unreadable record is neither unknown nor cancelled (11.2, 11.3)`()
        async throws
    {
        let url = try await crashed()
        let uploads = try await fixture.open()
        let token = String(url.split(separator: "/").last ?? "")
        let name = try #require(UploadToken(token)?.recordName)
        let path = "\(fixture.temporary.path)/uploads/records/\(name)"
        // A link to itself: opening it fails, though the record exists.
        rename(path, "\(path).kept")
        symlink(path, path)
        #expect(await uploads.send(.get, url).status == .internalServerError)
        #expect(await uploads.put(url, "bytes */*").status == .internalServerError)
        await #expect(throws: DiskError.self) { _ = try await fixture.open() }
        unlink(path)
        rename("\(path).kept", path)
        #expect(await uploads.offset(url) == "20000")
        #expect(await (try fixture.open()).offset(url) == "20000")
    }

    @Test func `without a free descriptor a client gets Retry-After (3.5)`() {
        let request = Request(method: .get, target: RequestTarget("/"), fields: Fields([]))
        let answer = UploadError(DiskError(kind: .tooManyOpen, operation: "open"))
            .response(to: request, fixture.settings)
        #expect(answer.status == .serviceUnavailable)
        #expect(answer.fields["Retry-After"] == "1")
    }

    @Test func `files without a record are deleted once they are an hour old (11.2)`() async throws
    {
        let uploads = try await fixture.open()
        let orphan = try #require(BlobName("orphan"))
        _ = try uploads.blobs.stage(orphan)
        _ = try await fixture.open()
        // The fixture's clock is years ahead of the file's.
        #expect(try uploads.blobs.stagedSize(orphan) == nil)
    }

    @Test(.enabled(if: UploadFixture.keepsRecords))
    func `a folder of records does not contain the tokens of URLs (1.1)`() async throws {
        let url = try await crashed()
        let token = String(url.split(separator: "/").last ?? "")
        let folder = try RecordFolder(at: "\(fixture.temporary.path)/uploads/records")
        let entry = try #require(try folder.entries().first)
        let record = try folder.open(#require(BlobName(entry.name)))
        #expect(entry.name != token)
        #expect(!String(decoding: record.payload, as: UTF8.self).contains(token))
    }
}
