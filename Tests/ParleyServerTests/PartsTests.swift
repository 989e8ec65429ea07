import FoundationEssentials
import HTTP
import SQL
import Testing

@testable import ParleyServer

@Suite struct `Putting a server together` {
    @Test func `refuses a folder that another server serves`() async throws {
        let scratch = Scratch()
        let parts = try await scratch.parts()
        await #expect {
            try await scratch.parts()
        } throws: { error in
            "\(error)".hasPrefix("the data folder \(scratch.path) is already in use by process ")
        }
        parts.close()
    }

    @Test func `says what is wrong with a folder in one line`() async throws {
        let scratch = Scratch([("data.folder", "/proc/none/data")])
        await #expect(throws: StartFailure.self) { try await scratch.parts() }
    }

    @Test(arguments: [
        ("host=/nowhere", "cannot be reached: "),
        ("hsot=a", "cannot be used: the URL is not understood: invalid URI query parameter"),
        ("port=x", "cannot be used: the URL is not understood: there is no such port"),
        ("sslmode=x", "cannot be used: the URL is not understood: there is no such sslmode"),
        ("application_name=%zz", "cannot be used: the URL is not understood: invalid percent"),
    ]) func `says what is wrong with a database server, and never its URL`(
        parameter: String, reason: String
    ) async throws {
        let scratch = Scratch([("database.url", "postgres://me:sesame@/parley?\(parameter)")])
        await #expect {
            try await scratch.parts()
        } throws: { error in
            "\(error)".hasPrefix("the database of database.url \(reason)")
                && !"\(error)".contains("sesame") && !"\(error)".contains("%zz")
        }
    }

    @Test func `reads the URL of its database from a file`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path()
        defer { Repository.remove(file) }
        let scratch = Scratch([("database.url_file", file)])
        #expect(throws: StartFailure.self) { try scratch.settings.databaseLocation() }
        try Repository.write("postgres://me:sesame@db/parley\n", to: file)
        #expect(
            try scratch.settings.databaseLocation() == .server("postgres://me:sesame@db/parley"))
        try Repository.write("sesame", to: file)
        #expect {
            try scratch.settings.databaseLocation()
        } throws: { error in
            "\(error)".hasPrefix("the file \(file) of database.url_file must hold ")
                && !"\(error)".contains("sesame")
        }
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"), ("0.0.0.0:80", "http://127.0.0.1:80"),
        ("[::]:8080", "http://[::1]:8080"), ("unix:/run/parley.sock", "http://localhost"),
    ]) func `hands out URLs of the first address`(address: String, base: String) {
        #expect(Scratch([("http.listen", address)]).settings.base == base)
        let named = Scratch([("http.listen", address), ("public_url", "https://chat.example.com/")])
        #expect(named.settings.base == "https://chat.example.com")
        #expect(named.settings.transferBase.text == "https://chat.example.com")
    }
}
