import Blobs
import Bytes
import Glibc
import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import Uploads

@Suite(.enabled(if: UploadFixture.keepsRecords)) struct `A sync that fails` {
    private let fixture = UploadFixture()

    @Test(
        arguments: [
            (.full, .insufficientStorage), (.tooManyOpen, .busy), (.readOnly, .backend),
            (.broken, .backend), (.denied, .backend),
        ] as [(DiskError.Kind, UploadError)])
    func `is reported to the client in detail only if a retry can help (11.1, 11.7)`(
        kind: DiskError.Kind, error: UploadError
    ) {
        #expect(UploadError(DiskError(kind: kind, operation: "fdatasync")) == error)
    }

    @Test func `discards all bytes since the last successful one (11.1)`() async throws {
        let uploads = try await fixture.open()
        let url = try await uploads.create(UploadFixture.draft(length: 5))
        // A device that accepts every byte and cannot be synced.
        #expect(symlink("/dev/zero", fixture.stagedPath) == 0)
        let answer = await uploads.put(url, "bytes 0-2/5", [1, 2, 3])
        #expect(answer.status == .internalServerError)
        #expect(await uploads.offset(url) == "0")
        #expect(unlink(fixture.stagedPath) == 0)
        #expect(await uploads.put(url, "bytes 0-4/5", [1, 2, 3, 4, 5]).status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.last?.content.sha256 }
                == SHA256.digest(of: [1, 2, 3, 4, 5]))
    }

    /// A request that sends the bytes after the first MiB of three.
    struct FaultCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let method: HTTP.Method
        var fields: [(name: String, value: String)] = []
        var first = 1 << 20
    }

    private static let content = patternBytes(3 << 20)
    private static let faultCases = [
        FaultCase(
            testDescription: "a range", method: .put,
            fields: [("Content-Range", "bytes 1048576-3145727/3145728")]),
        FaultCase(testDescription: "all of it", method: .put, first: 0),
        FaultCase(testDescription: "tus", method: .patch, fields: tus),
        FaultCase(
            testDescription: "tus, with a checksum", method: .patch,
            fields: tus + [
                (
                    "Upload-Checksum",
                    "sha1 \(Base64.encode(SHA1.digest(of: Array(content[(1 << 20)...]))))"
                )
            ]),
        FaultCase(
            testDescription: "IETF 6", method: .patch,
            fields: [("Upload-Draft-Interop-Version", "6")] + draft),
        FaultCase(testDescription: "IETF", method: .patch, fields: draft),
    ]
    private static let tus = [
        (name: "Tus-Resumable", value: "1.0.0"), ("Upload-Offset", "1048576"),
        ("Content-Type", "application/offset+octet-stream"),
    ]
    private static let draft = [
        (name: "Upload-Complete", value: "?1"), ("Upload-Offset", "1048576"),
        ("Content-Type", "application/partial-upload"),
    ]

    @Test(arguments: faultCases)
    func `ends the request in every protocol, and loses no acknowledged byte (11.1, 4.3)`(
        faultCase: FaultCase
    ) async throws {
        let uploads = try await fixture.open()
        let content = Self.content
        let url = try await uploads.create(UploadFixture.draft(length: Int64(content.count)))
        let first = await uploads.put(
            url, "bytes 0-1048575/3145728", Array(content[..<(1 << 20)]))
        #expect(first.status.code == 308)
        let body = ScriptedBody(
            [
                .bytes(Array(content[faultCase.first..<(2 << 20)])),
                .event { [fixture] in fixture.breakSync() },
                .bytes(Array(content[(2 << 20)...])),
            ], length: Int64(content.count - faultCase.first))
        let answer = await uploads.send(faultCase.method, url, faultCase.fields, body)
        #expect(answer.status == .internalServerError)
        #expect(await uploads.offset(url) == "1048576")
        let again = await uploads.send(
            faultCase.method, url, faultCase.fields,
            ScriptedBody(Array(content[faultCase.first...])))
        #expect((200..<300).contains(again.status.code))
        #expect(
            fixture.finisher.finished.withLock { $0.last?.content.sha256 }
                == SHA256.digest(of: content))
    }

    @Test func `during a request ends it at the last successful one (4.1, 11.1)`() async throws {
        let fixture = UploadFixture { $0.commitBytes = 256 << 10 }
        let uploads = try await fixture.open()
        let content = Self.content
        let url = try await uploads.create(UploadFixture.draft(length: Int64(content.count)))
        let body = ScriptedBody(
            [
                .bytes(Array(content[..<(1 << 20)])),
                .event {
                    // The bytes are written to the file some time after they were read.
                    while await uploads.offset(url) == "0" { await Task.yield() }
                    fixture.breakSync()
                },
                .bytes(Array(content[(1 << 20)...])),
            ], length: Int64(content.count))
        #expect(await uploads.send(.put, url, [], body).status == .internalServerError)
        let held = try #require(await uploads.offset(url).flatMap { Int($0) })
        #expect((1...(1 << 20)).contains(held))
        let rest = await uploads.put(
            url, "bytes \(held)-3145727/3145728", Array(content[held...]))
        #expect(rest.status == .ok)
        #expect(
            fixture.finisher.finished.withLock { $0.last?.content.sha256 }
                == SHA256.digest(of: content))
    }
}
