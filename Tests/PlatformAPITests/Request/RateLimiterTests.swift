import HTTP
import Messaging
import Testing

@testable import PlatformAPI

@Suite struct `The limit of a token` {
    private func token(_ number: UInt128) -> Token.ID {
        .v7(at: Timestamp(milliseconds: 0), random: number)
    }

    private func isRefused(_ verdict: RateLimiter.Verdict) -> Bool {
        if case .refused = verdict { true } else { false }
    }

    @Test func `is each token's own (platform-api 1_11)`() {
        let limiter = RateLimiter(RateLimit(perSecond: 1, burst: 2))
        #expect(!isRefused(limiter.admit(token(1), at: 0)))
        #expect(!isRefused(limiter.admit(token(1), at: 0)))
        #expect(isRefused(limiter.admit(token(1), at: 0)))
        #expect(!isRefused(limiter.admit(token(2), at: 0)))
        #expect(!isRefused(limiter.admit(token(1), at: 1000)))
        #expect(limiter.refused == 1)
    }

    @Test func `is none where it is turned off`() {
        let limiter = RateLimiter(.none)
        for _ in 0..<1000 { #expect(limiter.admit(token(1), at: 0) == .free) }
    }

    @Test func `may change while it is kept, and stays when it does not`() {
        let limiter = RateLimiter(RateLimit(perSecond: 1, burst: 1))
        _ = limiter.admit(token(1), at: 0)
        limiter.apply(RateLimit(perSecond: 1, burst: 1))
        #expect(isRefused(limiter.admit(token(1), at: 0)))
        limiter.apply(RateLimit(perSecond: 1, burst: 3))
        #expect(!isRefused(limiter.admit(token(1), at: 0)))
        limiter.apply(.none)
        #expect(limiter.admit(token(1), at: 0) == .free)
    }

    @Test func `takes no more memory than for so many tokens`() {
        let limiter = RateLimiter(RateLimit(perSecond: 1, burst: 1))
        for number in 0..<UInt128(RateLimiter.capacity) { _ = limiter.admit(token(number), at: 0) }
        #expect(limiter.tokens == RateLimiter.capacity)
        #expect(isRefused(limiter.admit(token(5), at: 0)))
        // All others have rested by then; this one has not.
        _ = limiter.admit(token(5), at: 1500)
        _ = limiter.admit(token(1 << 70), at: 1501)
        #expect(limiter.tokens == 2)
        #expect(isRefused(limiter.admit(token(5), at: 1502)))
    }
}

@Suite struct `A limited route` {
    @Test func `names its limit and when to retry (ruling 34, X5)`() async throws {
        let scene = try await SampleApplication.make(
            in: .limited(RateLimit(perSecond: 1, burst: 2)))
        let client = RouterClient(service: scene.world.service)
        // Whatever becomes of a request whose credential holds, it counts.
        let first = try await scene.ask("GET", "/apps/{app}/users/ana/conversations", by: client)
        #expect(first.status == 404)
        #expect(first["RateLimit-Policy"] == #""token";q=2;w=2"#)
        #expect(first["RateLimit"] == #""token";r=1;t=1"#)
        let second = try await scene.ask("POST", "/apps/{app}/conversations", "{", by: client)
        #expect(second.status == 400)
        #expect(second["RateLimit"] == #""token";r=0;t=2"#)
        // Step 5 comes before the body is looked at, step 4 before the limit.
        let third = try await scene.ask("POST", "/apps/{app}/conversations", "{", by: client)
        #expect(third.status == 429)
        #expect(third["Content-Type"] == "application/json; charset=UTF-8")
        #expect(
            third.body == """
                {"id":"rate_limited","code":116,"message":"The token has sent too many requests: the limit is \
                1 per second, and 2 at once after a pause. Retry after 1 second.",\
                "url":"https://chat.example.com/docs/errors#rate_limited"}
                """)
        #expect(third["Retry-After"] == "1")
        #expect(third["RateLimit"] == #""token";r=0;t=2"#)
        let foreign = try await scene.ask("GET", "/apps/{other_app}/users/a/badge", by: client)
        #expect(foreign.status != 429)
        let other = try await scene.ask(
            PlainRequest(
                method: "GET", target: "/apps/{app}/users/ana/conversations",
                fields: [
                    ("Authorization", "Bearer {write_token}"),
                    ("Accept", "application/vnd.layer+json; version=1.1"),
                ], body: ""), by: client)
        #expect(other.status == 404)
        #expect(scene.world.service.api.rateLimitedRequests == 1)
    }

    @Test func `says nothing of a limit where there is none, nor to strangers`() async throws {
        let scene = try await SampleApplication.make()
        let client = RouterClient(service: scene.world.service)
        let free = try await scene.ask("GET", "/apps/{app}/users/ana/conversations", by: client)
        #expect(free["RateLimit"] == nil)
        let limited = try await SampleApplication.make(
            in: .limited(RateLimit(perSecond: 1, burst: 1)))
        for _ in 0..<3 {
            let stranger = try await RouterClient(service: limited.world.service).ask(
                PlainRequest(
                    method: "GET",
                    target: "/apps/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55/users/ana/conversations",
                    fields: [
                        ("Authorization", "Bearer unseen"),
                        ("Accept", "application/vnd.layer+json; version=3.0"),
                    ], body: ""))
            #expect(stranger.status == 401)
            #expect(stranger["RateLimit"] == nil)
        }
    }
}
