import FoundationEssentials
import ObjectStore
import TestSupport
import Testing

@testable import ParleyServer

@Suite(.enabled(if: ObjectServer.isAvailable)) struct `A server with a bucket` {
    /// The settings of the test store, with some replaced.
    private static func flags(_ others: [(String, String)] = []) -> [(key: String, value: String)] {
        let server = ObjectServer.shared
        var flags: [(key: String, value: String)] = [
            ("s3.bucket", ObjectServer.bucket), ("s3.endpoint", server?.endpoint ?? ""),
            ("s3.region", ObjectServer.region), ("s3.prefix", ObjectServer.newPrefix()),
            ("s3.access_key", ObjectServer.owner.key),
            ("s3.secret_key", ObjectServer.owner.secret),
        ]
        for (key, value) in others {
            flags.removeAll { flag in flag.key == key }
            if !value.isEmpty { flags.append((key, value)) }
        }
        return flags
    }

    /// A file that is removed after the test.
    private func withFile(_ text: String, _ work: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer { Repository.remove(path) }
        try Repository.write(text, to: path)
        try await work(path)
    }

    @Test func `starts with valid settings`() async throws {
        let components = try await TestServer(Self.flags()).components()
        components.close()
    }

    @Test(arguments: [
        (
            [("s3.bucket", "missing-bucket")],
            "the bucket missing-bucket of s3.bucket cannot be used: there is no bucket missing-bucket at "
        ),
        (
            [("s3.secret_key", "wrong")],
            "the bucket \(ObjectServer.bucket) of s3.bucket cannot be used: "
        ),
        (
            [("s3.access_key", "unknown")],
            "the bucket \(ObjectServer.bucket) of s3.bucket cannot be used: "
        ),
        ([("s3.unsigned_payload", "true")], "s3.unsigned_payload "),
        (
            [
                ("s3.access_key", ""), ("s3.secret_key", ""),
                ("s3.credentials_file", "/proc/none/credentials"),
            ],
            "the file /proc/none/credentials of s3.credentials_file cannot be read"
        ),
    ]) func `reports errors in one line, without secrets (resumable uploads 10.3)`(
        changes: [(String, String)], beginning: String
    ) async throws {
        let testServer = TestServer(Self.flags(changes))
        await #expect {
            try await testServer.components()
        } throws: { error in
            let line = "\(error)"
            return line.hasPrefix(beginning) && !line.contains("\n")
                && !line.contains(ObjectServer.owner.secret)
        }
    }

    @Test func `starts while its store cannot be reached, which messages do not need`() async throws
    {
        let components = try await TestServer(Self.flags([("s3.endpoint", "http://127.0.0.1:1")]))
            .components()
        components.close()
    }

    @Test func `reads its credentials from a file, and again when it changes`()
        async throws
    {
        let none = [("s3.access_key", ""), ("s3.secret_key", "")]
        let right = """
            [other]
            aws_access_key_id = unknown
            [default]
            aws_access_key_id = \(ObjectServer.owner.key)
            aws_secret_access_key = \(ObjectServer.owner.secret)
            """
        try await withFile(right) { path in
            let testServer = TestServer(Self.flags(none + [("s3.credentials_file", path)]))
            let components = try await testServer.components()
            defer { components.close() }
            let credentials = try #require(components.credentials)
            _ = try await credentials.store.check()
            try Repository.write(
                "[default]\naws_access_key_id = unknown\naws_secret_access_key = none\n", to: path)
            try credentials.reload()
            await #expect(throws: ObjectStoreError.self) { try await credentials.store.check() }
            try Repository.write("half a file", to: path)
            #expect(throws: CommandFailure.self) { try credentials.reload() }
            try Repository.write(right, to: path)
            try credentials.reload()
            _ = try await credentials.store.check()
        }
        try await withFile("[default]\naws_access_key_id = a\n") { path in
            let testServer = TestServer(Self.flags(none + [("s3.credentials_file", path)]))
            await #expect {
                try await testServer.components()
            } throws: { error in
                "\(error)".hasPrefix("the file \(path) of s3.credentials_file must contain ")
            }
        }
    }
}
