import HTTP
import HTTPTransport
import SystemSupport

/// A service that is a closure.
final class Service: HTTP.Service {
    let decide: @Sendable (Request) -> Answer

    init(_ decide: @escaping @Sendable (Request) -> Answer) { self.decide = decide }

    func answer(to request: Request) -> Answer { decide(request) }

    func refusal(_ refusal: Refusal) -> Response { Response(refusal.status, "text/plain", []) }
}

/// Runs a server on its own port while `body` runs.
func serving(
    _ service: Service, at address: UInt32 = 0x7F00_0001,
    tls pair: TLSConfiguration.CertificateFiles? = nil,
    _ body: (_ base: String) async throws -> Void
) async throws {
    var configuration = ServerConfiguration()
    if let pair {
        configuration.addresses = []
        var tls = TLSConfiguration()
        tls.addresses = [.ipv4(address, port: 0)]
        tls.certificates = [pair]
        configuration.tls = tls
    } else {
        configuration.addresses = [.ipv4(address, port: 0)]
    }
    let server = try Server(configuration, service: service)
    let base = "\(pair == nil ? "http" : "https")://\(try server.start()[0])"
    do {
        try await body(base)
        _ = await server.drain(deadline: 0)
    } catch {
        _ = await server.drain(deadline: 0)
        throw error
    }
}

/// Numbers recorded on other threads, in order.
final class Progress: Sendable {
    private let state = Locked((steps: [Int64](), hasEnded: false))

    func note(_ step: Int64) { state.withLock { $0.steps.append(step) } }
    func end() { state.withLock { $0.hasEnded = true } }
    var steps: [Int64] { state.withLock { $0.steps } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
}
