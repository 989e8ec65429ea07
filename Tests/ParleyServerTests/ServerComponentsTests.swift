import FoundationEssentials
import HTTP
import SQL
import SQLPostgres
import Testing

@testable import ParleyServer

@Suite struct `Creating a server's components` {
    @Test func `refuses a folder that another server serves`() async throws {
        let testServer = TestServer()
        let components = try await testServer.components()
        await #expect {
            try await testServer.components()
        } throws: { error in
            "\(error)".hasPrefix("the data folder \(testServer.path) is already in use by process ")
        }
        components.close()
    }

    @Test func `reports an unusable folder in one line`() async throws {
        let testServer = TestServer([("data.folder", "/proc/none/data")])
        await #expect(throws: CommandFailure.self) { try await testServer.components() }
    }

    @Test(arguments: [
        ("host=/nowhere", "cannot be reached: "),
        ("hsot=a", "cannot be used: the URL is not understood: invalid URI query parameter"),
        ("port=x", "cannot be used: the URL is not understood: there is no such port"),
        ("sslmode=x", "cannot be used: the URL is not understood: there is no such sslmode"),
        ("application_name=%zz", "cannot be used: the URL is not understood: invalid percent"),
    ]) func `reports an unusable database, without its URL`(
        parameter: String, reason: String
    ) async throws {
        let testServer = TestServer([("database.url", "postgres://me:sesame@/parley?\(parameter)")])
        await #expect {
            try await testServer.components()
        } throws: { error in
            "\(error)".hasPrefix("the database of database.url \(reason)")
                && !"\(error)".contains("sesame") && !"\(error)".contains("%zz")
        }
    }

    @Test func `reads the URL of its database from a file`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer { Repository.remove(file) }
        let testServer = TestServer([("database.url_file", file)])
        #expect(throws: CommandFailure.self) { try testServer.settings.databaseLocation() }
        try Repository.write("postgres://me:sesame@db/parley\n", to: file)
        #expect(
            try testServer.settings.databaseLocation() == .server("postgres://me:sesame@db/parley"))
        try Repository.write("sesame", to: file)
        #expect {
            try testServer.settings.databaseLocation()
        } throws: { error in
            "\(error)".hasPrefix("the file \(file) of database.url_file must contain ")
                && !"\(error)".contains("sesame")
        }
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"), ("0.0.0.0:80", "http://127.0.0.1:80"),
        ("[::]:8080", "http://[::1]:8080"), ("unix:/run/parley.sock", "http://localhost"),
    ]) func `uses the first address in URLs`(address: String, base: String) {
        #expect(TestServer([("http.listen", address)]).settings.base == base)
        let named = TestServer([
            ("http.listen", address), ("public_url", "https://chat.example.com/"),
        ])
        #expect(named.settings.base == "https://chat.example.com")
        #expect(named.settings.transferBase.text == "https://chat.example.com")
    }
}

@Suite struct `The first application` {
    private static let id = "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"

    @Test func `X12 is created once, with a command to paste`() async throws {
        let testServer = TestServer()
        let components = try await testServer.components()
        let first = FirstApplication(store: components.store, settings: testServer.settings)
        let notice = try #require(try await first.makeIfNone())
        #expect(notice.contains("\nAPP="))
        #expect(notice.contains("\nTOKEN="))
        #expect(notice.contains("\ncurl http://127.0.0.1:8080/apps/"))
        #expect(try await first.makeIfNone() == nil)
    }

    @Test func `X12 comes from the environment, at every start`() async throws {
        let secret = "a-token-of-the-environment"
        let testServer = TestServer([("app.id", Self.id), ("app.token", secret)])
        let components = try await testServer.components()
        let first = FirstApplication(store: components.store, settings: testServer.settings)
        for _ in 0..<2 { try await first.makeConfigured() }
        #expect(try await first.makeIfNone() == nil)
    }

    @Test func `X12 refuses a token that opens another application`() async throws {
        let secret = "a-token-of-the-environment"
        let testServer = TestServer([("app.id", Self.id), ("app.token", secret)])
        let components = try await testServer.components()
        try await FirstApplication(store: components.store, settings: testServer.settings)
            .makeConfigured()
        var settings = testServer.settings
        settings.applicationID = "00000000-0000-4000-8000-000000000000"
        let other = FirstApplication(store: components.store, settings: settings)
        await #expect(throws: CommandFailure.self) { try await other.makeConfigured() }
    }
}
