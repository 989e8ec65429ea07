import HTTP
import Messaging
import MessagingStore
import MessagingWire
import Testing

@testable import PlatformAPI

@Suite struct `Credentials that are refused` {
    @Test(arguments: Credential.allCases)
    func `say what is wrong with the header, and nothing about the token (H210, H211)`(
        credential: Credential
    ) async throws {
        let scene = try await Scene.make(version: "3.0")
        let answer = try await answer(credential, in: scene)
        let problem = APIError(credential.problem)
        #expect(answer.status == .unauthorized)
        #expect(answer.fields["WWW-Authenticate"] == problem.challenge)
        #expect(bytes(answer) == bytes(scene.world.service.api.response(to: problem)))
    }

    @Test func `have a text of their own for each problem`() {
        let errors = BearerToken.Problem.allCases.map { problem in APIError(problem) }
        #expect(Set(errors.map(\.message)).count == errors.count)
    }

    @Test func `a token is looked up by its digest and kept nowhere (H210)`() async throws {
        let scene = try await Scene.make()
        let token = Array(scene.variables["token", default: ""].utf8)
        #expect(try await scene.world.store.authenticate(token) != nil)
        // One octet more, less or another one is another digest, not a longer comparison.
        for wrong in [token + [0x61], Array(token.dropLast()), token.dropLast() + [0x00]] {
            #expect(try await scene.world.store.authenticate(wrong) == nil)
        }
    }

    enum Credential: CaseIterable {
        case none, unknown, almost, longer, expired, digest, empty, otherScheme, twice, tooLong

        /// An expired token, an unknown one and one that is almost right are the same problem.
        var problem: BearerToken.Problem {
            switch self {
            case .none: .missing
            case .otherScheme: .otherScheme
            case .empty, .twice, .tooLong: .malformed
            case .unknown, .almost, .longer, .expired, .digest: .unknown
            }
        }

        func fields(_ scene: Scene) -> [(String, String)] {
            let token = scene.variables["token", default: ""]
            let values: [String] =
                switch self {
                case .none: []
                case .unknown: ["Bearer parley_nobody-has-this-token"]
                case .almost: ["Bearer \(token.dropLast())\(token.last == "A" ? "B" : "A")"]
                case .longer: ["Bearer \(token)A"]
                case .expired: ["Bearer \(scene.variables["expired_token", default: ""])"]
                case .digest: ["Bearer \(String(repeating: "0a", count: 32))"]
                case .empty: ["Bearer"]
                case .otherScheme: ["Basic \(token)"]
                case .twice: ["Bearer \(token)", "Bearer \(token)"]
                case .tooLong: ["Bearer \(String(repeating: "a", count: 4096))"]
                }
            return values.map { value in ("Authorization", value) }
        }
    }

    private func answer(_ credential: Credential, in scene: Scene) async throws -> Response {
        let request = Request(
            method: .get,
            target: RequestTarget("/apps/\(scene.application.uuid)/users/ana/conversations"),
            fields: Fields(
                [("Accept", "application/vnd.layer+json; version=3.0")]
                    + credential.fields(scene)))
        switch try await World.shared.service.api.answer(to: request).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(MemoryBody([]))
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }

    private func bytes(_ response: Response) -> [UInt8] {
        if case .bytes(let octets) = response.content { octets } else { [] }
    }
}
