import Blobs
import Bytes
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

/// On its own volume, where ``TemporaryVolume/isPermitted``.
@Suite(.enabled(if: TemporaryVolume.isPermitted && UploadFixture.keepsRecords))
struct `A full or read-only disk` {
    private let volume: TemporaryVolume
    private let fixture: UploadFixture
    private let content = patternBytes(3 << 20)

    init() throws {
        volume = try TemporaryVolume(size: 8 << 20)
        fixture = UploadFixture(on: volume.path, bucket: nil)
    }

    @Test func `stores what fits, and the upload continues later (11.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(content.count)))
        let answer = await uploads.put(content, to: url, filling: volume)
        #expect(answer.status == .insufficientStorage)
        #expect(answer.text.contains("insufficientStorage"))
        let held = try #require(await uploads.offset(url).flatMap { Int($0) })
        #expect(held >= 512 << 10 && held < content.count)
        // While there is no space, a request is refused before its body is read.
        let again = ScriptedBody(Array(content[held...]))
        let range = "bytes \(held)-\(content.count - 1)/\(content.count)"
        let refused = await uploads.send(.put, url, [("Content-Range", range)], again)
        #expect(refused.status == .insufficientStorage)
        #expect(again.reads == 0)
        await #expect(throws: UploadError.insufficientStorage) {
            _ = try await uploads.create(UploadFixture.draft(length: 1 << 20))
        }
        volume.free()
        let reopened = try await fixture.open()
        #expect(await reopened.offset(url) == "\(held)")
        let done = await reopened.put(url, range, Array(content[held...]))
        #expect(done.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.last?.content.sha256 }
                == SHA256.digest(of: content))
    }

    @Test func `refuses bytes and still returns the offset when read-only (11.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 5))
        _ = await uploads.put(url, "bytes 0-1/5", [1, 2])
        try await volume.set(readOnly: true)
        let refused = await uploads.put(url, "bytes 2-4/5", [3, 4, 5])
        #expect(refused.status == .internalServerError)
        #expect(refused.text.contains("backendError"))
        #expect(!refused.text.contains(volume.path))
        #expect(await uploads.offset(url) == "2")
        #expect(await uploads.put(url, "bytes */5").fields["Range"] == "bytes=0-1")
        await #expect(throws: UploadError.backend) {
            _ = try await uploads.create(UploadFixture.draft(length: 1))
        }
        #expect(await uploads.send(.delete, url).status == .internalServerError)
        #expect(await uploads.offset(url) == "2")
        try await volume.set(readOnly: false)
        #expect(await uploads.put(url, "bytes 2-4/5", [3, 4, 5]).status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.last?.content.sha256 }
                == SHA256.digest(of: [1, 2, 3, 4, 5]))
    }

    @Test func `keeps unused files until they can be deleted (11.8)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 1))
        _ = await uploads.send(.put, url, [], ScriptedBody([1]))
        let content = AbandonedContent(application: "app", contentID: UploadFixture.content)
        fixture.finisher.unneeded.withLock { $0 = [content] }
        try await volume.set(readOnly: true)
        await uploads.sweep()
        #expect(fixture.finisher.unneeded.withLock { $0 } == [content])
        try await volume.set(readOnly: false)
        await uploads.sweep()
        #expect(fixture.finisher.unneeded.withLock { $0 } == [])
        #expect(await uploads.bytes(of: UploadFixture.content) == nil)
    }
}

@Suite(.enabled(if: TemporaryVolume.isPermitted && UploadFixture.keepsRecords))
struct `Disk space` {
    private let volume: TemporaryVolume
    private let fixture: UploadFixture
    private let content = patternBytes(12 << 20)

    init() throws {
        volume = try TemporaryVolume(size: 32 << 20)
        fixture = UploadFixture(on: volume.path)
    }

    @Test func `is reserved for an upload from its first byte on (11.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: Int64(content.count)))
        let answer = await uploads.put(content, to: url, filling: volume)
        #expect(answer.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.last?.content.sha256 }
                == SHA256.digest(of: content))
    }

    @Test func `is not counted twice once it is written (11.7)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 20 << 20))
        let body = ScriptedBody([.bytes([1]), .fails(.interrupted)], length: 20 << 20)
        _ = await uploads.send(.put, url, [], body)
        // 20 of 32 MiB are written by now, and no longer counted as reserved.
        _ = try await create(8 << 20, number: 1, in: uploads)
        await #expect(throws: UploadError.insufficientStorage) {
            _ = try await create(8 << 20, number: 2, in: uploads)
        }
        let reopened = try await fixture.open()
        await #expect(throws: UploadError.insufficientStorage) {
            _ = try await create(8 << 20, number: 2, in: reopened)
        }
        #expect(await reopened.send(.delete, url).status.code == 499)
        _ = try await create(16 << 20, number: 2, in: reopened)
    }

    private func create(_ length: Int64, number: Int, in uploads: Uploads) async throws -> String {
        try await uploads.create(
            UploadDraft(
                owner: UploadOwner(application: "app"),
                contentID: UploadFixture.content(number: number),
                mediaType: nil, length: length))
    }
}

extension Uploads {
    /// Sends a content; after its first MiB the volume is full.
    fileprivate func put(
        _ content: [UInt8], to url: String, filling volume: TemporaryVolume
    ) async -> Response {
        let body = ScriptedBody(
            [.bytes(Array(content[..<(1 << 20)])), .pause, .bytes(Array(content[(1 << 20)...]))],
            length: Int64(content.count))
        async let answer = send(.put, url, [], body)
        await body.untilPaused()
        volume.fill()
        body.release()
        return await answer
    }
}
