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
        ("127.0.0.1:8080", "http://127.0.0.1:8080"), ("0.0.0.0:80", "http://127.0.0.1:80"),
        ("[::]:8080", "http://[::1]:8080"), ("unix:/run/parley.sock", "http://localhost"),
    ]) func `hands out URLs of the first address`(address: String, base: String) {
        #expect(Scratch([("http.listen", address)]).settings.base == base)
        let named = Scratch([("http.listen", address), ("public_url", "https://chat.example.com/")])
        #expect(named.settings.base == "https://chat.example.com")
        #expect(named.settings.transferBase == "https://chat.example.com")
    }
}
