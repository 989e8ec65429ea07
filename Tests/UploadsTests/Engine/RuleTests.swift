import Blobs
import Bytes
import HTTP
import Testing

@testable import Uploads

/// Appending at an exact offset, as protocols B and C do, without their headers.
@Suite struct `Appending at an exact offset` {
    private let fixture = UploadFixture()

    @Test(arguments: [0, 2, 4] as [Int64]) func `starts at the offset, nowhere else (4.1)`(
        first: Int64
    ) async throws {
        let (uploads, name) = try await started([1, 2, 3])
        let body = ScriptedBody([9])
        #expect(try await append(uploads, name, exact(first, 1), body) == .misplaced(3))
        #expect(body.reads == 0)
        #expect(try await append(uploads, name, exact(3, 1), body) == .held(4))
    }

    @Test(arguments: [0, 6] as [Int64])
    func `does not interrupt a writer whose bytes it does not continue (11.4)`(
        first: Int64
    ) async throws {
        let (uploads, name) = try await started([1])
        let running = ScriptedBody([.bytes([2, 3]), .pause, .bytes([4])], length: 3)
        async let old = append(uploads, name, exact(1, 3), running)
        await running.untilPaused()
        #expect(
            try await append(uploads, name, exact(first, 1), ScriptedBody([9])) == .misplaced(3))
        running.release()
        #expect(try await old == .held(4))
    }

    @Test func `takes over at the offset that the running writer has reached (11.4)`() async throws
    {
        let (uploads, name) = try await started([1])
        let running = ScriptedBody([.bytes([2, 3]), .pause, .bytes([4])], length: 3)
        async let old = append(uploads, name, exact(1, 3), running)
        try await reached(3, uploads, name)
        #expect(try await append(uploads, name, exact(3, 1), ScriptedBody([9])) == .held(4))
        #expect(try await old == .dropped)
    }

    @Test func `never completes a content that no request declares complete (1.4)`() async throws {
        let (uploads, name) = try await started([])
        var whole = exact(0, 3)
        whole.total = 3
        #expect(try await append(uploads, name, whole, ScriptedBody([1, 2, 3])) == .held(3))
        var end = exact(3, 0)
        end.end = .always
        let last = try await append(uploads, name, end, ScriptedBody([]))
        let answer = try #require(last.answer)
        #expect(answer.size == 3)
        let again = try await append(uploads, name, end, ScriptedBody([]))
        #expect(again == .completeBefore(answer))
    }

    @Test(arguments: [DigestAlgorithm.md5, .sha256, .sha512])
    func `stores all or nothing of a body with digests (4.4)`(
        algorithm: DigestAlgorithm
    ) async throws {
        let (uploads, name) = try await started([1])
        let bytes: [UInt8] = [2, 3]
        var right = exact(1, 2)
        right.bodyDigests = [
            BodyDigest(algorithm: .sha256, value: SHA256.digest(of: bytes)),
            BodyDigest(algorithm: algorithm, value: algorithm.kind.digest(of: bytes)),
        ]
        await #expect(throws: UploadError.checksumMismatch) {
            try await append(uploads, name, right, ScriptedBody([2, 4]))
        }
        #expect(try await append(uploads, name, right, ScriptedBody(bytes)) == .held(3))
    }

    private func exact(_ first: Int64, _ length: Int64) -> AppendRequest {
        AppendRequest(rule: .exact, first: first, bodyLength: length, end: .never)
    }

    private func started(_ bytes: [UInt8]) async throws -> (Uploads, BlobName) {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: nil))
        guard case .resource(let name)? = UploadPath(RequestTarget(String(url.dropFirst(20))))
        else { throw UploadError.notFound }
        let start = exact(0, Int64(bytes.count))
        _ = try await append(uploads, name, start, ScriptedBody(bytes))
        return (uploads, name)
    }

    /// Waits until a running writer has received `count` bytes.
    private func reached(_ count: Int64, _ uploads: Uploads, _ name: BlobName) async throws {
        let upload = try #require(try await uploads.checkOut(name))
        defer { uploads.checkIn(name) }
        while await upload.turn.receivedRange?.upperBound != count { await Task.yield() }
    }

    private func append(
        _ uploads: Uploads, _ name: BlobName, _ append: AppendRequest, _ body: ScriptedBody
    ) async throws -> AppendOutcome {
        let upload = try #require(try await uploads.checkOut(name))
        defer { uploads.checkIn(name) }
        return try await upload.append(append, from: body)
    }
}

extension AppendOutcome {
    /// The final answer, if this request completed the upload.
    fileprivate var answer: StoredFinalResponse? {
        if case .complete(let answer) = self { answer } else { nil }
    }
}
