import HTTP
import HTTPClient
import TestSupport
import Testing

@testable import ObjectStore

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `A check at the start` {
    @Test func `accepts valid settings`() async throws {
        #expect(try await TestBucket().store.check() == 0)
    }

    struct InvalidSettings: Sendable {
        let name: String
        let change: @Sendable (inout ObjectStoreSettings) -> Void
        let kind: ObjectStoreError.Kind
        let words: String
    }

    private static let invalidSettings = [
        InvalidSettings(
            name: "bucket", change: { $0.bucket = "nowhere" }, kind: .missingBucket,
            words: "there is no bucket nowhere at 127.0.0.1"),
        InvalidSettings(
            name: "region", change: { $0.region = "eu-else-1" }, kind: .wrongRegion,
            words: "it is in eu-test-1"),
        InvalidSettings(
            name: "key", change: { $0.credentials = Credentials(accessKey: "x", secretKey: "y") },
            kind: .invalidCredentials, words: "InvalidAccessKeyId"),
        InvalidSettings(
            name: "secret",
            change: { $0.credentials = Credentials(accessKey: "parley", secretKey: "y") },
            kind: .invalidCredentials, words: "SignatureDoesNotMatch"),
        InvalidSettings(
            name: "token",
            change: {
                $0.credentials = Credentials(
                    accessKey: "guest", secretKey: "guest-and-more", sessionToken: "old")
            }, kind: .invalidCredentials, words: "InvalidToken"),
        InvalidSettings(
            name: "session",
            change: { $0.credentials = Credentials(accessKey: "late", secretKey: "late-and-more") },
            kind: .invalidCredentials, words: "ExpiredToken"),
    ]

    @Test(arguments: invalidSettings) func `names what is invalid`(settings: InvalidSettings)
        async throws
    {
        let bucket = try TestBucket(settings.change)
        let wrong = try await fault { _ = try await bucket.store.check() }
        #expect(wrong.kind == settings.kind, "\(settings.name)")
        #expect("\(wrong)".contains(settings.words), "\(wrong)")
        #expect(bucket.waits.isEmpty)
    }

    @Test func `does not let a reader write`() async throws {
        let bucket = try TestBucket {
            $0.credentials = Credentials(accessKey: "reader", secretKey: "reader-and-more")
        }
        #expect(try await bucket.store.check() == 0)
        let denied = try await fault {
            _ = try await bucket.store.put(try TestBucket.key(), .bytes([1]), type: "a/b")
        }
        #expect(denied.kind == .accessDenied)
    }

    @Test func `requires valid settings`() throws {
        let wrong = #expect(throws: ObjectStoreError.self) { try TestBucket { $0.endpoint = "s3" } }
        #expect(wrong?.kind == .invalid)
        #expect(wrong?.words.hasPrefix("endpoint must be") == true)
    }
}

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `The connection to a store` {
    @Test func `can use virtual hosts`() async throws {
        let bucket = try TestBucket { settings in
            settings.endpoint = settings.endpoint.replacing("127.0.0.1", with: "localhost")
            settings.style = .virtualHost
        }
        try await expectAll(of: bucket)
        #expect(
            bucket.store.presignedURL(try TestBucket.key(), seconds: 1).hasPrefix(
                "http://parley.localhost:"))
    }

    @Test func `can use a session token`() async throws {
        try await expectAll(
            of: TestBucket {
                $0.credentials = Credentials(
                    accessKey: "guest", secretKey: "guest-and-more", sessionToken: "session")
            })
    }

    @Test(arguments: [false, true])
    func `can use TLS with a private CA, with signed and unsigned bodies (§10.4)`(
        leavesPayloadUnsigned: Bool
    ) async throws {
        let server = try #require(ObjectServer.shared)
        try await expectAll(
            of: TestBucket { settings in
                settings.endpoint = server.secureEndpoint
                settings.authorities = server.authorities
                settings.leavesPayloadUnsigned = leavesPayloadUnsigned
            })
    }

    @Test func `fails with TLS to an untrusted certificate`() async throws {
        let server = try #require(ObjectServer.shared)
        let bucket = try TestBucket { $0.endpoint = server.secureEndpoint }
        let untrusted = try await fault { _ = try await bucket.store.check() }
        #expect(untrusted.kind == .untrusted)
        #expect(bucket.waits.isEmpty)
    }

    private func expectAll(of bucket: TestBucket) async throws {
        let key = try #require(ObjectKey("a b/ü"))
        let store = bucket.store
        let stored = ClientBody.stored(100_000) { count, position in
            Array(patternBytes(100_000)[Int(position)...].prefix(count))
        }
        _ = try await store.put(key, stored, type: "a/b", metadata: ["x": "y"])
        #expect(try await store.head(key)?.size == 100_000)
        #expect(try await store.read(key, range: 5..<10)[...] == patternBytes(100_000)[5..<10])
        let upload = try await store.createMultipartUpload(key, type: "a/b")
        let part = try await store.putPart(key, upload: upload, number: 1, stored)
        #expect(try await store.parts(key, upload: upload) == [part])
        try await store.complete(key, upload: upload, [part])
        let url = store.presignedURL(key, seconds: 60)
        var settings = HTTPClientSettings()
        settings.caBundle = store.settings.authorities
        let answer = try await HTTPClient(settings).send(
            ClientRequest(.get, url), bodyLimit: 1 << 20)
        #expect(answer.body == patternBytes(100_000))
        try await store.delete(key)
        #expect(try await store.head(key) == nil)
    }
}
