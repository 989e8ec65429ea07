import HTTP
import Messaging
import MessagingStore
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `Matching of methods` {
    @Test func `a method of another version gets the methods of this version (ruling 4)`()
        async throws
    {
        let endpoint = Endpoint(
            .put, "/apps/{app}/conversations/{conversation}", "Is new in 3.0.",
            versions: [.v3_0], .withoutBody { _ in .noContent }
        ) { _ in Operation("putConversation", answers: [.noContent([])]) }
        let gate = RequestChecks(
            api: try await TestServer.shared.service.api,
            request: Request(method: .put, target: RequestTarget("/"), fields: Fields([])),
            endpoint: endpoint, parameters: [:])
        #expect(gate.otherMethods(in: .v3_0) == nil)
        #expect(gate.otherMethods(in: .v2_0) == [.get, .head, .patch, .delete, .options])
    }

    @Test(arguments: [
        ("application/vnd.layer-patch+json", APIVersion.v1_0, true),
        ("Application/Vnd.Layer-Patch+JSON ; charset=utf-8", .v1_0, true),
        ("application/vnd.layer-patch.json", .v2_0, true),
        ("application/json", .v3_0, true), ("application/json;charset=utf-8", .v3_0, true),
        ("application/json", .v2_0, false), ("text/plain", .v3_0, false), ("", .v3_0, false),
        ("application/vnd.layer-patch+jsonx", .v3_0, false),
    ])
    func `a patch is recognised by its media type (1_2)`(
        type: String, version: APIVersion, isPatch: Bool
    ) {
        #expect(PatchType.accepts(type, version) == isPatch)
    }

    @Test func `a patch without a media type is not accepted (1_2)`() {
        #expect(!PatchType.accepts(nil, .v3_0))
    }
}

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
    func `other tokens are malformed (H211)`(line: String) {
        #expect(throws: BearerToken.Problem.malformed) { try BearerToken(Array(line.utf8)[...]) }
    }

    @Test(arguments: ["", "Bearerabc", "Basic abc", "Bearer\tabc", " Bearer abc"])
    func `other schemes are not accepted (H211)`(line: String) {
        #expect(throws: BearerToken.Problem.otherScheme) {
            try BearerToken(Array(line.utf8)[...])
        }
    }

    @Test func `a request without the header has no credential`() {
        #expect(throws: BearerToken.Problem.missing) { try BearerToken(Fields([])) }
    }

    @Test func `two credentials are rejected`() {
        let fields = Fields([("Authorization", "Bearer a"), ("authorization", "Bearer a")])
        #expect(throws: BearerToken.Problem.malformed) { try BearerToken(fields) }
    }
}

@Suite struct `Method override` {
    @Test(arguments: [("PATCH", Method.patch), ("patch", .patch), ("PUT", .post), ("", .post)])
    func `a POST can be overridden by PATCH only (1_5)`(override: String, method: Method) {
        let request = Request(
            method: .post, target: RequestTarget("/"),
            fields: Fields([("X-HTTP-Method-Override", override)]))
        #expect(request.effectiveMethod == method)
    }

    @Test(arguments: Method.allCases.filter { $0 != .post })
    func `other methods cannot be overridden (H67)`(method: Method) {
        let request = Request(
            method: method, target: RequestTarget("/"),
            fields: Fields([("X-HTTP-Method-Override", "PATCH")]))
        #expect(request.effectiveMethod == method)
    }
}

@Suite struct `Rejected credentials` {
    @Test(arguments: Credential.allCases)
    func `get an error about the header, without details of the token (H210, H211)`(
        credential: Credential
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let answer = try await answer(credential, in: sample)
        let problem = APIError(credential.problem)
        #expect(answer.status == .unauthorized)
        #expect(answer.fields["WWW-Authenticate"] == problem.challenge)
        #expect(bytes(answer) == bytes(sample.server.service.api.response(to: problem)))
    }

    @Test func `have a separate text for each problem`() {
        let errors = BearerToken.Problem.allCases.map { problem in APIError(problem) }
        #expect(Set(errors.map(\.message)).count == errors.count)
    }

    @Test func `a token is looked up by its digest and never stored (H210)`() async throws {
        let sample = try await SampleApplication.make()
        let token = Array(sample.variables["token", default: ""].utf8)
        #expect(try await sample.server.store.authenticate(token) != nil)
        // A token with one byte more, less or changed has another digest.
        for wrong in [token + [0x61], Array(token.dropLast()), token.dropLast() + [0x00]] {
            #expect(try await sample.server.store.authenticate(wrong) == nil)
        }
    }

    enum Credential: CaseIterable {
        case none, unknown, almost, longer, expired, digest, empty, otherScheme, twice, tooLong

        /// An expired token, an unknown one and a slightly different one are the same problem.
        var problem: BearerToken.Problem {
            switch self {
            case .none: .missing
            case .otherScheme: .otherScheme
            case .empty, .twice, .tooLong: .malformed
            case .unknown, .almost, .longer, .expired, .digest: .unknown
            }
        }

        func fields(_ sample: SampleApplication) -> [(String, String)] {
            let token = sample.variables["token", default: ""]
            let values: [String] =
                switch self {
                case .none: []
                case .unknown: ["Bearer parley_this-token-does-not-exist"]
                case .almost: ["Bearer \(token.dropLast())\(token.last == "A" ? "B" : "A")"]
                case .longer: ["Bearer \(token)A"]
                case .expired: ["Bearer \(sample.variables["expired_token", default: ""])"]
                case .digest: ["Bearer \(String(repeating: "0a", count: 32))"]
                case .empty: ["Bearer"]
                case .otherScheme: ["Basic \(token)"]
                case .twice: ["Bearer \(token)", "Bearer \(token)"]
                case .tooLong: ["Bearer \(String(repeating: "a", count: 4096))"]
                }
            return values.map { value in ("Authorization", value) }
        }
    }

    private func answer(_ credential: Credential, in sample: SampleApplication) async throws
        -> Response
    {
        let request = Request(
            method: .get,
            target: RequestTarget("/apps/\(sample.application.uuid)/users/ana/conversations"),
            fields: Fields(
                [("Accept", "application/vnd.layer+json; version=3.0")]
                    + credential.fields(sample)))
        switch try await TestServer.shared.service.api.answer(to: request).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(MemoryBody([]))
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }

    private func bytes(_ response: Response) -> [UInt8] {
        if case .bytes(let bytes) = response.content { bytes } else { [] }
    }
}

@Suite struct `A request with a trace` {
    private static let line = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test(arguments: [true, false])
    func `stores it with the event, if a trusted proxy sends it (X5, H198)`(
        isProxied: Bool
    ) async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: sample.server.service, isProxied: isProxied)
        for fields in [[("traceparent", Self.line)], [], [("traceparent", "00-none-01")]] {
            let answer = try await sample.send(
                "POST", "/apps/{app}/conversations",
                #"{"participants":["ana","bo"],"distinct":false}"#, fields: fields, by: client)
            #expect(answer.status == 201)
        }
        let made = try await sample.server.store.events(
            after: .start, limit: 100, in: sample.application
        ).filter { recorded in
            if case .conversationCreated = recorded.event { true } else { false }
        }
        let trace = Trace(id: "0af7651916cd43dd8448eb211c80319c", flags: 1)
        #expect(made.map(\.trace) == [isProxied ? trace : nil, nil, nil])
    }

    @Test func `stores it also under an Idempotency-Key (X2, X5)`() async throws {
        let sample = try await SampleApplication.make(version: "3.0")
        let client = RouterClient(service: sample.server.service, isProxied: true)
        let answer = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":["ana"],"distinct":false}"#,
            fields: [("traceparent", Self.line), ("Idempotency-Key", "once")], by: client)
        #expect(answer.status == 201)
        let last = try await sample.server.store.events(
            after: .start, limit: 100, in: sample.application
        ).last
        #expect(last?.trace?.id == "0af7651916cd43dd8448eb211c80319c")
    }
}
