internal import HTTP
internal import SystemSupport

/// Knows all requests on their way, so that a kick can give up those that are silent: the network may be another one now
/// (K14).
final class TrackedTransport: Transport {
    private let base: any Transport
    private let state = Locked(State())

    private struct State {
        var requests: [Int: OpenRequest] = [:]
        var last = 0
    }

    private struct OpenRequest {
        var lastArrival = ContinuousClock.now
        let patience: Duration
        /// `nil` until the request is begun.
        var cancel: (@Sendable () -> Void)?
    }

    init(_ base: any Transport) { self.base = base }

    /// Gives up the requests that have received nothing for longer than their patience.
    func kick() {
        let silent = state.withLock { state in
            state.requests.values.filter { $0.lastArrival + $0.patience < .now }
        }
        for request in silent { request.cancel?() }
    }

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        let number = track(request.patienceAtKick)
        defer { untrack(number) }
        var request = request
        // Bytes that the network takes are a sign that it is there.
        request.stored = request.stored.map { stored in
            TransportRequest.StoredBody(
                count: stored.count, file: stored.file, read: stored.read,
                onSent: { [weak self] count in
                    self?.noteArrival(number)
                    stored.onSent(count)
                })
        }
        return try await run(number) { [base, request] () async throws(ParleyError) in
            try await base.send(request)
        }
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        let opening = track(TransportRequest.defaultPatience)
        defer { untrack(opening) }
        let stream = try await run(opening) { [base] () async throws(ParleyError) in
            try await base.open(request)
        }
        return TrackedStream(stream, self, track(request.patienceAtKick) { stream.cancel() })
    }

    /// Does a request in a task of its own, which a kick cancels.
    private func run<Answer: Sendable>(
        _ number: Int, _ request: @escaping @Sendable () async throws(ParleyError) -> Answer
    ) async throws(ParleyError) -> Answer {
        let task = Task { () async -> Result<Answer, ParleyError> in
            do throws(ParleyError) {
                return .success(try await request())
            } catch {
                return .failure(error)
            }
        }
        state.withLock { state in state.requests[number]?.cancel = { task.cancel() } }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        do throws(ParleyError) {
            return try result.get()
        } catch {
            throw error.notByKick
        }
    }

    private func track(_ patience: Duration, _ cancel: (@Sendable () -> Void)? = nil) -> Int {
        state.withLock { state in
            state.last += 1
            state.requests[state.last] = OpenRequest(patience: patience, cancel: cancel)
            return state.last
        }
    }

    fileprivate func untrack(_ number: Int) {
        state.withLock { state in state.requests[number] = nil }
    }

    /// Records that something of a request went through the network.
    fileprivate func noteArrival(_ number: Int) {
        state.withLock { state in state.requests[number]?.lastArrival = .now }
    }
}

/// A stream that is known until it is no longer read.
private final class TrackedStream: TransportStream {
    private let base: any TransportStream
    private let transport: TrackedTransport
    private let number: Int
    var status: Int { base.status }
    var headers: Fields { base.headers }

    init(_ base: any TransportStream, _ transport: TrackedTransport, _ number: Int) {
        (self.base, self.transport, self.number) = (base, transport, number)
    }

    deinit { transport.untrack(number) }

    func next() async throws(ParleyError) -> [UInt8]? {
        do throws(ParleyError) {
            let bytes = try await base.next()
            transport.noteArrival(number)
            return bytes
        } catch {
            throw error.notByKick
        }
    }

    func cancel() {
        transport.untrack(number)
        base.cancel()
    }
}

extension ParleyError {
    /// The error of a request: one that a kick has given up was not cancelled by the caller.
    fileprivate var notByKick: ParleyError {
        guard code == .cancelled, !Task.isCancelled else { return self }
        return ParleyError(.timedOut, "The server did not answer in time.", isTransient: true)
    }
}
