import Bytes
import FoundationEssentials
import HTTP
import JSON
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

/// Sessions that begin with identity tokens of an application's backend.
@Suite(.timeLimit(.minutes(10))) struct IdentityTokenTests {
    /// What the backend does next.
    private enum Reply {
        case token(of: String)
        case slowToken(of: String)
        case nothing
        case failure
    }

    private struct BackendFailure: Error {}

    /// The backend of an application, which signs identity tokens.
    private final class Backend: Sendable {
        private static let signer = SigningKey(.ed25519)
        private let provider: String
        private let key: String
        let reply = Locked(Reply.failure)
        /// How often it was asked, how often at this moment, and how often at most at once.
        let calls = Locked((all: 0, now: 0, most: 0))

        init(_ server: KitServer) async throws {
            let provider = try await server.json(.post, "/providers", #"{"name":"Login"}"#)["id"]
            let id = try #require(provider?.string)
            let pem = Self.signer.publicPEM.replacing("\n", with: "\\n")
            let key = try await server.json(
                .post, "/providers/\(id.split(separator: "/").last ?? "")/keys",
                #"{"public_key":"\#(pem)"}"#)
            self.provider = id
            self.key = try #require(key["id"]?.string)
        }

        func identityToken(_ nonce: String) async throws -> String {
            calls.withLock { calls in
                calls = (calls.all + 1, calls.now + 1, max(calls.most, calls.now + 1))
            }
            defer { calls.withLock { calls in calls.now -= 1 } }
            switch reply.withLock({ $0 }) {
            case .token(let user): return token(of: user, nonce)
            case .slowToken(let user):
                try await Task.sleep(for: .milliseconds(300))
                return token(of: user, nonce)
            case .nothing: return "no token"
            case .failure: throw BackendFailure()
            }
        }

        private func token(of user: String, _ nonce: String) -> String {
            let now = Int64(Date().timeIntervalSince1970)
            let header = #"{"typ":"JWT","alg":"EdDSA","cty":"layer-eit;v=1","kid":"\#(key)"}"#
            let claims = """
                {"iss":"\(provider)","prn":"\(user)","iat":\(now - 60),"exp":\(now + 600),"nce":"\(nonce)"}
                """
            let content = [header, claims].map { text in Base64.encodeForURL(Array(text.utf8)) }
                .joined(separator: ".")
            return "\(content).\(Base64.encodeForURL(Self.signer.sign(Array(content.utf8))))"
        }
    }

    private func client(_ server: KitServer, _ backend: Backend) async throws -> ParleyClient {
        let other = server.configuration("ana")
        return try await openClient(
            Configuration(
                server: other.server, application: KitServer.application, store: other.store,
                identityToken: backend.identityToken))
    }

    private func waitUntilRefused(_ client: ParleyClient, _ code: ParleyError.Code) async throws {
        try await eventually("no session can be had: \(code)") {
            if case .unauthenticated(let error) = client.connection { return error.code == code }
            return false
        }
    }

    @Test func `a closure that throws is called again after a delay, or after a kick (K6)`()
        async throws
    {
        let server = try KitServer()
        let backend = try await Backend(server)
        let ana = try await client(server, backend)
        func callsOfRequests() async -> Int {
            let before = backend.calls.withLock { $0.all }
            for _ in 0..<50 { _ = try? await ana.engine.session.currentToken() }
            return backend.calls.withLock { $0.all } - before
        }
        // Its first delays are short, and random.
        #expect(await callsOfRequests() < 10)
        for _ in 0..<3 {
            ana.kick()
            #expect((1..<10).contains(await callsOfRequests()))
        }
        backend.reply.withLock { $0 = .token(of: "ana") }
        ana.kick()
        _ = try await ana.engine.session.currentToken()
        await ana.close()
    }

    @Test
    func `waiting for a session ends with the task, and the session is for others (K70, K15)`()
        async throws
    {
        let server = try KitServer()
        let backend = try await Backend(server)
        backend.reply.withLock { $0 = .token(of: "ana") }
        let gate = Gate()
        gate.close()
        let other = server.configuration("ana")
        let ana = try await openClient(
            Configuration(
                server: other.server, application: KitServer.application, store: other.store
            ) { nonce in
                await gate.pass()
                return try await backend.identityToken(nonce)
            })
        ana.connect()
        await #expect { try await ana.catchUp(within: .milliseconds(100)) } throws: { error in
            (error as? ParleyError)?.code == .timedOut
        }
        let waiting = Task { try await ana.authenticate() }
        try await Task.sleep(for: .milliseconds(50))
        waiting.cancel()
        await #expect { try await waiting.value } throws: { error in
            (error as? ParleyError)?.code == .cancelled
        }
        await ana.disconnect()
        #expect(ana.connection == .idle)
        let later = Task { try await ana.authenticate() }
        try await Task.sleep(for: .milliseconds(50))
        gate.open()
        #expect(try await later.value.id == "ana")
        #expect(backend.calls.withLock { $0.all } == 1)
        await ana.close()
    }

    @Test func `a closure that is slow or throws delays requests, and runs once at a time (K6)`()
        async throws
    {
        let server = try KitServer()
        let backend = try await Backend(server)
        let ana = try await client(server, backend)
        for (reply, isTransient) in [(Reply.failure, true), (.nothing, false)] {
            backend.reply.withLock { $0 = reply }
            await #expect {
                try await ana.authenticate()
            } throws: { error in
                let error = error as? ParleyError
                return error?.code == .authenticationFailed && error?.isTransient == isTransient
            }
        }
        #expect(try await ana.user == nil)
        backend.reply.withLock { $0 = .slowToken(of: "ana") }
        let before = backend.calls.withLock { $0.all }
        ana.connect()
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 { group.addTask { _ = try await ana.authenticate() } }
            try await group.waitForAll()
        }
        #expect(try await ana.user == "ana")
        let calls = backend.calls.withLock { $0 }
        #expect(calls.all == before + 1)
        #expect(calls.most == 1)
        await ana.close()
    }

    @Test func `without a session nothing is lost, whatever the reason is (K6, K7, K8)`()
        async throws
    {
        let server = try KitServer()
        let backend = try await Backend(server)
        let (ana, bo) = (try await client(server, backend), try await server.client("bo"))
        backend.reply.withLock { $0 = .token(of: "ana") }
        try await ana.authenticate()
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.waitUntilSent(try await ana.send([.text("0")], to: conversation).id)

        // The server ends the session, and no new one can be had for some time.
        for (number, (reply, code)) in [
            (Reply.failure, ParleyError.Code.authenticationFailed),
            (.nothing, .authenticationFailed), (.token(of: "bo"), .wrongUser),
        ].enumerated() {
            backend.reply.withLock { $0 = reply }
            try await server.request(.delete, "/users/ana/sessions")
            try await waitUntilRefused(ana, code)
            let message = try await ana.send([.text("\(number + 1)")], to: conversation)
            ana.kick()
            try await Task.sleep(for: .milliseconds(100))
            #expect(try await ana.message(message.id)?.isSent == false)
            #expect(try await ana.user == "ana")
            backend.reply.withLock { $0 = .token(of: "ana") }
            ana.kick()
            try await ana.waitUntilSent(message.id)
        }

        try await suspend(true, on: server)
        try await waitUntilRefused(ana, .suspended)
        let message = try await ana.send([.text("4")], to: conversation)
        try await suspend(false, on: server)
        ana.kick()
        try await ana.waitUntilSent(message.id)
        try await eventually("bo has everything in order") {
            try await bo.texts(in: conversation) == ["0", "1", "2", "3", "4"]
        }
        #expect(backend.calls.withLock { $0.most } == 1)
        for client in [ana, bo] { await client.close() }
    }

    private func suspend(_ isSuspended: Bool, on server: KitServer) async throws {
        try await server.request(
            .patch, "/users/ana",
            #"[{"operation":"set","property":"suspended","value":\#(isSuspended)}]"#,
            type: "application/vnd.layer-patch+json")
    }
}
