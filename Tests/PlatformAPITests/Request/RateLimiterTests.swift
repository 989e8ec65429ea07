import HTTP
import Messaging
import Testing

@testable import PlatformAPI

@Suite struct `The rate limit of a token` {
    private func token(_ number: UInt128) -> Token.ID {
        .v7(at: Timestamp(milliseconds: 0), random: number)
    }

    private func isRefused(_ decision: RateLimitDecision) -> Bool {
        if case .refused = decision { true } else { false }
    }

    @Test func `is separate for each token (platform-api 1_11)`() {
        let limiter = RateLimiter<Token.ID>(RateLimit(perSecond: 1, burst: 2))
        #expect(!isRefused(limiter.admit(token(1), at: 0)))
        #expect(!isRefused(limiter.admit(token(1), at: 0)))
        #expect(isRefused(limiter.admit(token(1), at: 0)))
        #expect(!isRefused(limiter.admit(token(2), at: 0)))
        #expect(!isRefused(limiter.admit(token(1), at: 1000)))
        #expect(limiter.refused == 1)
    }

    @Test func `does not exist when it is disabled`() {
        let limiter = RateLimiter<Token.ID>(.none)
        for _ in 0..<1000 { #expect(limiter.admit(token(1), at: 0) == .free) }
    }

    @Test func `can change while the server runs, and otherwise keeps its state`() {
        let limiter = RateLimiter<Token.ID>(RateLimit(perSecond: 1, burst: 1))
        _ = limiter.admit(token(1), at: 0)
        limiter.apply(RateLimit(perSecond: 1, burst: 1))
        #expect(isRefused(limiter.admit(token(1), at: 0)))
        limiter.apply(RateLimit(perSecond: 1, burst: 3))
        #expect(!isRefused(limiter.admit(token(1), at: 0)))
        limiter.apply(.none)
        #expect(limiter.admit(token(1), at: 0) == .free)
    }

    @Test func `uses memory for a limited number of tokens`() {
        let limiter = RateLimiter<Token.ID>(RateLimit(perSecond: 1, burst: 1))
        for number in 0..<UInt128(RateLimiter<Token.ID>.capacity) {
            _ = limiter.admit(token(number), at: 0)
        }
        #expect(limiter.tracked == RateLimiter<Token.ID>.capacity)
        #expect(isRefused(limiter.admit(token(5), at: 0)))
        // All other tokens have recovered by then; this one has not.
        _ = limiter.admit(token(5), at: 1500)
        _ = limiter.admit(token(1 << 70), at: 1501)
        #expect(limiter.tracked == 2)
        #expect(isRefused(limiter.admit(token(5), at: 1502)))
    }
}

@Suite struct `A rate-limited endpoint` {
    @Test func `returns its limit and the time to retry (ruling 34, X5)`() async throws {
        let sample = try await SampleApplication.make(
            in: .limited(RateLimit(perSecond: 1, burst: 2)))
        let client = RouterClient(service: sample.server.service)
        // Every request with a valid credential counts, whatever its result.
        let first = try await sample.send("GET", "/apps/{app}/users/ana/conversations", by: client)
        #expect(first.status == 404)
        #expect(first["RateLimit-Policy"] == #""token";q=2;w=2"#)
        #expect(first["RateLimit"] == #""token";r=1;t=1"#)
        let second = try await sample.send("POST", "/apps/{app}/conversations", "{", by: client)
        #expect(second.status == 400)
        #expect(second["RateLimit"] == #""token";r=0;t=2"#)
        // The limit is checked before the body, and the credential before the limit.
        let third = try await sample.send("POST", "/apps/{app}/conversations", "{", by: client)
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
        let foreign = try await sample.send("GET", "/apps/{other_app}/users/a/badge", by: client)
        #expect(foreign.status != 429)
        let other = try await sample.send(
            PlainRequest(
                method: "GET", target: "/apps/{app}/users/ana/conversations",
                fields: [
                    ("Authorization", "Bearer {write_token}"),
                    ("Accept", "application/vnd.layer+json; version=1.1"),
                ], body: ""), by: client)
        #expect(other.status == 404)
        #expect(sample.server.service.api.rateLimitedRequests == 1)
    }

    @Test func `has no headers of a limit without one, or without a credential`() async throws {
        let sample = try await SampleApplication.make()
        let client = RouterClient(service: sample.server.service)
        let free = try await sample.send("GET", "/apps/{app}/users/ana/conversations", by: client)
        #expect(free["RateLimit"] == nil)
        let limited = try await SampleApplication.make(
            in: .limited(RateLimit(perSecond: 1, burst: 1)))
        for _ in 0..<3 {
            let unauthenticated = try await RouterClient(service: limited.server.service).send(
                PlainRequest(
                    method: "GET",
                    target: "/apps/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55/users/ana/conversations",
                    fields: [
                        ("Authorization", "Bearer unseen"),
                        ("Accept", "application/vnd.layer+json; version=3.0"),
                    ], body: ""))
            #expect(unauthenticated.status == 401)
            #expect(unauthenticated["RateLimit"] == nil)
        }
    }
}
