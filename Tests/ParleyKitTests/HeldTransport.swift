import HTTP
import SystemSupport

@testable import ParleyKit

/// Lets tasks pass, or makes them wait until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = true
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func close() { state.withLock { state in state.isOpen = false } }

    func open() {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.isOpen = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state -> Bool in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Passes requests on to another transport, and holds back what a test wants.
struct HeldTransport: Transport {
    let base: any Transport
    /// Answers of commands pass it before the client gets them.
    let answers = Gate()
    /// What the feed sends passes it.
    let feed = Gate()
    /// The requests so far, as `GET /path`.
    let requests = Locked<[String]>([])

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        note(request)
        let response = try await base.send(request)
        if !request.path.hasPrefix("/events") { await answers.pass() }
        return response
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        note(request)
        let stream = try await base.open(request)
        return request.path.hasPrefix("/events") ? HeldStream(base: stream, gate: feed) : stream
    }

    private func note(_ request: TransportRequest) {
        requests.withLock { requests in
            requests.append("\(request.method.rawValue) \(request.path)")
        }
    }

    /// How many requests began with a text.
    func count(of prefix: String) -> Int {
        requests.withLock { requests in requests.count { $0.hasPrefix(prefix) } }
    }
}

private struct HeldStream: TransportStream {
    let base: any TransportStream
    let gate: Gate
    var status: Int { base.status }
    var headers: Fields { base.headers }

    func next() async throws(ParleyError) -> [UInt8]? {
        let bytes = try await base.next()
        await gate.pass()
        return bytes
    }

    func cancel() {
        base.cancel()
        gate.open()
    }
}
