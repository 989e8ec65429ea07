import HTTP
import SystemSupport
import TestSupport
import Testing

@testable import ParleyKit

/// Requests without an answer, which a kick gives up.
@Suite(.timeLimit(.minutes(10))) struct KickTests {
    @Test(arguments: ["POST /content", "HEAD ", "PUT ", "GET http", "POST /dev/login"])
    func `a kick gives up a request of any kind that has no answer (K14)`(
        silent: String
    ) async throws {
        let fixture = try TransferFixture()
        let configuration = fixture.server.configuration("bo")
        let transport = SilentTransport(base: try openTransport(configuration))
        transport.silent.withLock { $0 = silent }
        let bo = try await ParleyClient(configuration, transport)
        let ana = try await fixture.client("ana")
        ana.connect()
        bo.connect()
        if silent.hasPrefix("POST /dev") {
            try await kick(bo, transport)
            try await eventually("bo is live", within: .seconds(20)) { bo.connection == .live }
        } else {
            try await bo.authenticate()
            let conversation = try await bo.newConversation(with: ["ana"]).id
            let message = try await bo.send(
                [.file(fixture.file(100_000).url, mimeType: "a/b")], to: conversation)
            if silent.hasPrefix("GET") {
                try await bo.waitUntilSent(message.id)
                try await bo.purge(message.parts[0].id)
                let transfer = try await bo.download(message.parts[0].id)
                try await kick(bo, transport)
                try await eventually("it is here", within: .seconds(20)) {
                    transfer.progress.isFinished
                }
            } else {
                try await kick(bo, transport)
                try await eventually("it is sent", within: .seconds(20)) {
                    try await bo.message(message.id)?.isSent == true
                }
            }
        }
        for client in [ana, bo] { await client.close() }
    }

    /// Kicks once, when a request has been silent for longer than its patience. The next ones are answered.
    private func kick(_ client: ParleyClient, _ transport: SilentTransport) async throws {
        try await eventually("a request is silent") { transport.met.withLock { $0 } > 0 }
        transport.silent.withLock { $0 = nil }
        try await Task.sleep(for: TransportRequest.defaultPatience + .milliseconds(100))
        client.kick()
    }

    @Test func `a kick leaves a request alone whose bytes are sent (K14)`() async throws {
        let base = UnansweringTransport()
        let transport = TrackedTransport(base)
        func send(_ path: String) -> Task<ParleyError.Code?, Never> {
            var request = TransportRequest(method: .put, path: path)
            request.patienceAtKick = .milliseconds(300)
            request.stored = TransportRequest.StoredBody(
                count: 1, file: nil, read: { _, _ in [] }, onSent: { _ in })
            return Task { [request] in
                do throws(ParleyError) {
                    _ = try await transport.send(request)
                    return nil
                } catch {
                    return error.code
                }
            }
        }
        let (silent, sending) = (send("/silent"), send("/sending"))
        try await eventually("both are on their way") { base.requests.withLock { $0.count } == 2 }
        try await Task.sleep(for: .milliseconds(400))
        for request in base.requests.withLock({ $0 }) where request.path == "/sending" {
            request.stored?.onSent(1)
        }
        transport.kick()
        #expect(await silent.value == .timedOut)
        sending.cancel()
        #expect(await sending.value == .cancelled)
    }
}

/// Answers some requests never.
private struct SilentTransport: Transport {
    let base: any Transport
    /// The method and the beginning of the path of requests without an answer; `nil` for none.
    let silent = Locked<String?>(nil)
    let met = Locked(0)

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        try await answer(request)
        return try await base.send(request)
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        try await answer(request)
        return try await base.open(request)
    }

    private func answer(_ request: TransportRequest) async throws(ParleyError) {
        let text = "\(request.method.rawValue) \(request.path)"
        let isSilent = silent.withLock { prefix in prefix.map { text.hasPrefix($0) } ?? false }
        guard isSilent else { return }
        met.withLock { $0 += 1 }
        try? await Task.sleep(for: .seconds(3600))
        throw .cancelled
    }
}

/// Answers no request.
private struct UnansweringTransport: Transport {
    let requests = Locked<[TransportRequest]>([])

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        requests.withLock { $0.append(request) }
        try? await Task.sleep(for: .seconds(3600))
        throw .cancelled
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        throw .cancelled
    }
}
