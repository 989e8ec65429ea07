import Testing

@testable import ParleyServer

@Suite struct `The first application` {
    private static let id = "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"

    @Test func `X12 is made once and told with a line to paste`() async throws {
        let scratch = Scratch()
        let parts = try await scratch.parts()
        let first = FirstApplication(store: parts.store, settings: scratch.settings)
        let news = try #require(try await first.makeIfNone())
        #expect(news.contains("\nAPP="))
        #expect(news.contains("\nTOKEN="))
        #expect(news.contains("\ncurl http://127.0.0.1:8080/apps/"))
        #expect(try await first.makeIfNone() == nil)
    }

    @Test func `X12 comes from the environment, as often as it is said`() async throws {
        let secret = "a-token-of-the-environment"
        let scratch = Scratch([("app.id", Self.id), ("app.token", secret)])
        let parts = try await scratch.parts()
        let first = FirstApplication(store: parts.store, settings: scratch.settings)
        for _ in 0..<2 { try await first.makeConfigured() }
        #expect(try await first.makeIfNone() == nil)
    }

    @Test func `X12 refuses a token that opens another application`() async throws {
        let secret = "a-token-of-the-environment"
        let scratch = Scratch([("app.id", Self.id), ("app.token", secret)])
        let parts = try await scratch.parts()
        try await FirstApplication(store: parts.store, settings: scratch.settings).makeConfigured()
        var settings = scratch.settings
        settings.applicationID = "00000000-0000-4000-8000-000000000000"
        let other = FirstApplication(store: parts.store, settings: settings)
        await #expect(throws: StartFailure.self) { try await other.makeConfigured() }
    }
}
