import Console
import FoundationEssentials
import HTTP
import JSON
import Messaging
import MessagingStore
import Testing

@testable import ParleyServer

@Suite struct `Jobs of the console` {
    /// A server with an application of one user, and an operator.
    private struct Sample {
        let fixture: ConsoleFixture
        let application: Application.ID
        let cookie: String

        init(_ flags: [(key: String, value: String)] = []) async throws {
            fixture = try await ConsoleFixture(flags)
            application = try await fixture.store.createApplication(name: "shop").id
            cookie = try await fixture.logIn()
            let sent = await fixture.send(
                .post, "apps/\(application)/conversations",
                #"{"participants":["layer:///identities/ana","layer:///identities/bo"]}"#,
                cookie: cookie)
            #expect(sent.status == 201, "\(sent.text)")
        }

        func send(
            _ method: HTTP.Method, _ path: String, _ body: String? = nil,
            fields: [String: String] = [:]
        ) async -> ConsoleReply {
            await fixture.send(
                method, path, body, cookie: cookie,
                fields: body == nil
                    ? fields
                    : fields.merging(
                        ["Content-Type": "application/jsonl"]) { old, _ in old })
        }

        /// Waits until a job has ended.
        func ended(_ started: ConsoleReply) async throws -> JSONValue {
            #expect(started.status == 201, "\(started.text)")
            let id = try #require(started["id"]?.string)
            #expect(started.response.fields["Location"] == "/console/api/jobs/\(id)")
            let end = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < end {
                let job = try #require(await send(.get, "jobs/\(id)").json)
                if job["state"]?.string != "running" { return job }
                try await Task.sleep(for: .milliseconds(10))
            }
            Issue.record("The job has not ended.")
            return try #require(started.json)
        }

        /// The files in the folder of jobs.
        func files() throws -> [String] {
            try FileManager.default.subpathsOfDirectory(atPath: "\(fixture.server.path)/jobs")
                .filter { name in name.count > 40 }
        }
    }

    private static let unknown = "00000000-0000-4000-8000-000000000000"

    @Test func `export an application to a file that another server imports`() async throws {
        let sample = try await Sample()
        let job = try await sample.ended(
            await sample.send(.post, "jobs?kind=export&app=\(sample.application)"))
        #expect(job["state"]?.string == "done", "\(String(decoding: job.raw, as: UTF8.self))")
        #expect(job["done"]?.integer == job["total"]?.integer)
        #expect(job["done"]?.integer == job["file_bytes"]?.integer)
        #expect(job["unit"]?.string == "bytes")
        #expect(job["actor"]?.string == "admin")
        let id = try #require(job["id"]?.string)
        let file = await sample.send(.get, "jobs/\(id)/file")
        #expect(file.status == 200)
        #expect(file.response.content.length == job["done"]?.integer)
        #expect(
            file.response.fields["Content-Disposition"]
                == "attachment; filename=\"\(sample.application).jsonl\"")
        let path = try #require(try sample.files().first)
        let text = try String(
            contentsOf: URL(filePath: "\(sample.fixture.server.path)/jobs/\(path)"),
            encoding: .utf8)
        #expect(text.contains(#""user_id":"ana""#))

        let other = try await ConsoleFixture()
        _ = try await other.store.createApplication(name: "shop", id: sample.application)
        let cookie = try await other.logIn()
        func post() async -> ConsoleReply {
            await other.send(
                .post, "jobs?kind=import&app=\(sample.application)", text, cookie: cookie,
                fields: ["Content-Type": "application/jsonl"])
        }
        var result: JSONValue?
        for expected in [1, 0] as [Int64] {
            let started = await post()
            #expect(started.status == 201, "\(started.text)")
            #expect(started["total"]?.integer == Int64(text.utf8.count))
            let id = try #require(started["id"]?.string)
            let end = ContinuousClock.now + .seconds(120)
            while ContinuousClock.now < end {
                result = await other.send(.get, "jobs/\(id)", cookie: cookie).json
                if result?["state"]?.string != "running" { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(result?["state"]?.string == "done")
            let counts = result?["result"]?["records"]?.elements.first {
                $0["record"]?.string == "conversation"
            }
            #expect(counts?["brought"]?.integer == expected)
            #expect(result?["file_bytes"]?.isNull == true, "the file is deleted after the import")
        }
        let types = try await other.events()
        #expect(types.filter { $0 == .jobStarted }.count == 2)
        #expect(types.filter { $0 == .jobFinished }.count == 2)
    }

    @Test func `report the invalid line of a file, and can be deleted`() async throws {
        let sample = try await Sample()
        let first =
            #"{"record":"application","format":1,"id":"\#(sample.application)","name":"shop","created_at":"2026-03-01T09:15:30.042Z","suspended":false}"#
        let job = try await sample.ended(
            await sample.send(
                .post, "jobs?kind=import&app=\(sample.application)",
                "\(first)\n{\"record\":\"x\"}\n"))
        #expect(job["state"]?.string == "failed")
        #expect(job["error"]?.string?.hasPrefix("Line 2:") == true, "\(job["error"]?.string ?? "")")
        let id = try #require(job["id"]?.string)
        #expect(try sample.files().count == 1)
        #expect(await sample.send(.get, "jobs/\(id)/file").status == 409)
        let again = try await sample.ended(await sample.send(.post, "jobs/\(id)"))
        #expect(again["error"]?.string == job["error"]?.string)
        #expect(await sample.send(.delete, "jobs/\(id)").status == 204)
        #expect(try sample.files().isEmpty)
        #expect(await sample.send(.get, "jobs/\(id)").status == 404)
        #expect(await sample.send(.delete, "jobs/\(id)").status == 404)
        #expect(try await sample.fixture.events().suffix(2) == [.jobFailed, .jobDeleted])
    }

    @Test func `need a kind, an application and a body where one belongs`() async throws {
        let sample = try await Sample()
        let application = sample.application
        let cases: [(path: String, body: String?, status: Int)] = [
            ("jobs", nil, 422), ("jobs?kind=move&app=\(application)", nil, 422),
            ("jobs?kind=export", nil, 422), ("jobs?kind=export&app=x", nil, 422),
            ("jobs?kind=export&app=\(Self.unknown)", nil, 404),
            ("jobs?kind=export&app=\(application)", "{}", 400),
            ("jobs?kind=import&app=\(Self.unknown)", "{}", 404),
            ("jobs?kind=backup", nil, 422), ("jobs?kind=backup&app=\(application)", nil, 422),
            ("jobs/\(Self.unknown)", nil, 404), ("jobs/x", nil, 404),
        ]
        for (path, body, status) in cases {
            let reply = await sample.send(.post, path, body)
            #expect(reply.status == status, "\(path) \(reply.text)")
        }
        let coded = await sample.send(
            .post, "jobs?kind=import&app=\(application)", "x",
            fields: ["Content-Encoding": "gzip"])
        #expect(coded.status == 415)
        #expect(await sample.send(.get, "jobs").json?.count == 0)
        #expect(try sample.files().isEmpty)
    }

    @Test func `are those of its application for a token`() async throws {
        let sample = try await Sample()
        let other = try await sample.fixture.store.createApplication(name: "other").id
        let token = try await sample.fixture.store.createToken(for: other, scope: .admin).secret
        let job = try await sample.ended(
            await sample.send(.post, "jobs?kind=export&app=\(sample.application)"))
        let id = try #require(job["id"]?.string)
        for (method, path) in [
            (HTTP.Method.get, "jobs/\(id)"), (.get, "jobs/\(id)/file"), (.delete, "jobs/\(id)"),
            (.post, "jobs/\(id)"),
        ] {
            #expect(
                await sample.fixture.send(method, path, token: token).status == 404, "\(path)")
        }
        for path in ["jobs?kind=export&app=\(sample.application)", "jobs?kind=backup"] {
            #expect(await sample.fixture.send(.post, path, token: token).status == 403, "\(path)")
        }
        let list = await sample.fixture.send(.get, "jobs", token: token)
        #expect(list.json?.count == 0)
        let own = await sample.fixture.send(.post, "jobs?kind=export&app=\(other)", token: token)
        _ = try await sample.ended(own)
        #expect(own["actor"]?.string?.hasPrefix("token:") == true)
    }

    @Test func `start once for each Idempotency-Key`() async throws {
        let sample = try await Sample()
        let path = "jobs?kind=export&app=\(sample.application)"
        let first = await sample.send(.post, path, fields: ["Idempotency-Key": "one"])
        _ = try await sample.ended(first)
        let second = await sample.send(.post, path, fields: ["Idempotency-Key": "one"])
        #expect(second.status == 201, "\(second.text)")
        #expect(second["id"]?.string == first["id"]?.string)
        #expect(second.response.fields["Idempotent-Replayed"] == "true")
        #expect(second.response.fields["Location"] == first.response.fields["Location"])
        #expect(second.response.fields["Cache-Control"] == "no-store")
        let other = await sample.send(
            .post, "jobs?kind=backup", fields: ["Idempotency-Key": "one"])
        #expect(other.error == "idempotency_key_reuse")
        #expect(await sample.send(.get, "jobs").json?.elements.map { $0 }.count == 1)
    }

    @Test func `store nothing on a full disk`() async throws {
        let sample = try await Sample([("uploads.disk_headroom", "1048576TiB")])
        let reply = await sample.send(
            .post, "jobs?kind=import&app=\(sample.application)", "{}\n")
        #expect(reply.status == 507, "\(reply.text)")
        #expect(try sample.files().isEmpty)
        #expect(await sample.send(.get, "jobs").json?.count == 0)
        let job = try await sample.ended(
            await sample.send(.post, "jobs?kind=export&app=\(sample.application)"))
        #expect(job["state"]?.string == "failed")
        #expect(job["error"]?.string?.contains("no disk space") == true)
        #expect(try sample.files().isEmpty)
    }

    @Test func `are interrupted by the end of their process, and run again`() async throws {
        let sample = try await Sample()
        let store = sample.fixture.store
        let job = ConsoleJob(
            id: .v7(at: Timestamp(milliseconds: 1), random: 7), kind: .export,
            application: sample.application, state: .running, process: "00000000", actor: "admin",
            startedAt: Timestamp(milliseconds: 1))
        try await store.startJob(job, from: .command)
        let found = await sample.send(.get, "jobs/\(job.id)")
        #expect(found["state"]?.string == "interrupted")
        let ended = try await sample.ended(await sample.send(.post, "jobs/\(job.id)"))
        #expect(ended["state"]?.string == "done")
        #expect(ended["process"]?.string == store.process)
        #expect(await sample.send(.post, "jobs/\(job.id)").status == 409)
    }

    @Test func `leave no file behind when the process was killed`() async throws {
        let sample = try await Sample()
        let folder = "\(sample.fixture.server.path)/jobs/staged"
        try Repository.write("half of a file", to: "\(folder)/\(Self.unknown)")
        #expect(try sample.files().count == 1)
        await sample.fixture.components.consoleAPI?.start()
        #expect(try sample.files().isEmpty)
    }

    @Test func `back up the server into the configured folder`() async throws {
        let target = TestServer()
        let sample = try await Sample([("console.backup_folder", target.path)])
        #expect(
            await sample.send(.get, "session")["server"]?["backups"]?.bool == true)
        let job = try await sample.ended(await sample.send(.post, "jobs?kind=backup"))
        #expect(job["state"]?.string == "done", "\(job["error"]?.string ?? "")")
        let folder = try #require(job["result"]?["folder"]?.string)
        #expect(folder.hasPrefix("\(target.path)/backup-"))
        let manifest = try BackupManifest.read(in: folder)
        #expect(manifest.database.size == job["result"]?["bytes"]?.integer)
        let id = try #require(job["id"]?.string)
        #expect(await sample.send(.delete, "jobs/\(id)").status == 204)
        #expect(throws: Never.self) { try BackupManifest.read(in: folder) }
    }

    @Test func `explain why a backup has failed`() async throws {
        let sample = try await Sample([("console.backup_folder", "/proc/none")])
        let job = try await sample.ended(await sample.send(.post, "jobs?kind=backup"))
        #expect(job["state"]?.string == "failed")
        #expect(job["error"]?.string?.contains("/proc/none") == true)
    }
}

@Suite struct `An Idempotency-Key in the console` {
    @Test func `creates one application, and one token whose secret is shown once`() async throws {
        let fixture = try await ConsoleFixture()
        let cookie = try await fixture.logIn()
        func post(_ path: String, _ body: String, key: String) async -> ConsoleReply {
            await fixture.send(
                .post, path, body, cookie: cookie, fields: ["Idempotency-Key": key])
        }
        let first = await post("apps", #"{"name":"shop"}"#, key: "a")
        let again = await post("apps", #"{"name":"shop"}"#, key: "a")
        #expect(first.status == 201)
        #expect(again.status == 201)
        #expect(again.text == first.text)
        #expect(again.response.fields["Idempotent-Replayed"] == "true")
        #expect(try await fixture.store.applications().count == 1)
        let changed = await post("apps", #"{"name":"other"}"#, key: "a")
        #expect(changed.error == "idempotency_key_reuse")
        let malformed = await post("apps", #"{"name":"other"}"#, key: "é")
        #expect(malformed.error == "invalid_request_id")
        // A request that failed leaves its key free.
        #expect(await post("apps", "{}", key: "b").status == 422)
        #expect(await post("apps", #"{"name":"b"}"#, key: "b").status == 201)

        let id = try #require(first["id"]?.string)
        let path = "apps/\(id)/tokens"
        let token = await post(path, #"{"scope":"read"}"#, key: "c")
        let replayed = await post(path, #"{"scope":"read"}"#, key: "c")
        #expect(token["token"]?.string != nil)
        #expect(replayed.status == 201)
        #expect(replayed["id"]?.string == token["id"]?.string)
        #expect(replayed["token"] == nil)
        #expect(await fixture.send(.get, path, cookie: cookie).json?.elements.map { $0 }.count == 1)
        // The key of another operator is another one.
        let other = try await fixture.logIn("bo")
        let created = await fixture.send(
            .post, "apps", #"{"name":"shop"}"#, cookie: other, fields: ["Idempotency-Key": "a"])
        #expect(created["id"]?.string != id)
    }
}
