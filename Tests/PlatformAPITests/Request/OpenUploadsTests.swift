import Testing

@testable import PlatformAPI

@Suite struct `Too many open uploads` {
    @Test func `get an error object with the limit and the time to retry (ruling 34)`()
        async throws
    {
        let sample = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: sample.server.service)
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana","bo"]}"#, by: client)
        #expect(made.status == 201)
        var last = made
        for _ in 0...200 {
            last = try await sample.send(
                "POST", "/apps/{app}/users/ana/content",
                fields: [("Upload-Content-Type", "text/plain"), ("Upload-Content-Length", "10")],
                by: client)
        }
        #expect(last.status == 429)
        #expect(last["Retry-After"] == "60")
        #expect(
            last.body == """
                {"id":"rate_limited","code":116,"message":"200 uploads are open, which is the limit; \
                complete or cancel one. Retry after 60 seconds.","url":"https://chat.example.com/docs/errors#rate_limited"}
                """)
    }
}
