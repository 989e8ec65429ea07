import HTTP
import Testing

@testable import PlatformAPI

@Suite struct `The Authorization field` {
    @Test(arguments: ["Bearer abc", "bearer abc", "BEARER abc", "Bearer abc==", "Bearer a-._~+/9"])
    func `a bearer token is read (H211)`(line: String) {
        #expect(
            (try? BearerToken(Array(line.utf8)[...]))?.secret == Array(line.utf8.dropFirst(7)))
    }

    @Test(arguments: [
        "Bearer", "Bearer ", "Bearer  abc", "Bearer abc ", "Bearer a b", "Bearer a=b", "Bearer ==",
        "Bearer a,b", "Bearer é", "Bearer \"abc\"", "Bearer a\u{0}",
        "Bearer " + String(repeating: "a", count: 4090),
    ])
    func `another token is malformed (H211)`(line: String) {
        #expect(throws: BearerToken.Problem.malformed) { try BearerToken(Array(line.utf8)[...]) }
    }

    @Test(arguments: ["", "Bearerabc", "Basic abc", "Bearer\tabc", " Bearer abc"])
    func `another scheme is not read (H211)`(line: String) {
        #expect(throws: BearerToken.Problem.otherScheme) {
            try BearerToken(Array(line.utf8)[...])
        }
    }

    @Test func `a request without the header has no credential`() {
        #expect(throws: BearerToken.Problem.missing) { try BearerToken(Fields([])) }
    }

    @Test func `two credentials are none`() {
        let fields = Fields([("Authorization", "Bearer a"), ("authorization", "Bearer a")])
        #expect(throws: BearerToken.Problem.malformed) { try BearerToken(fields) }
    }
}

@Suite struct `The method that counts` {
    @Test(arguments: [("PATCH", Method.patch), ("patch", .patch), ("PUT", .post), ("", .post)])
    func `a POST may be a PATCH and nothing else (1_5)`(override: String, method: Method) {
        let request = Request(
            method: .post, target: RequestTarget("/"),
            fields: Fields([("X-HTTP-Method-Override", override)]))
        #expect(request.effectiveMethod == method)
    }

    @Test(arguments: Method.allCases.filter { $0 != .post })
    func `no other method is overridden (H67)`(method: Method) {
        let request = Request(
            method: method, target: RequestTarget("/"),
            fields: Fields([("X-HTTP-Method-Override", "PATCH")]))
        #expect(request.effectiveMethod == method)
    }
}
