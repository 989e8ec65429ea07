import Blobs
import HTTP
import SystemSupport

/// A body that follows a script, without a socket.
final class ScriptedBody: RequestBody {
    enum Step: Sendable {
        /// Bytes arrive; a smaller buffer gets them in several reads.
        case bytes([UInt8])
        /// Bytes arrive, and the read waits for more, as a socket's does. It returns when
        /// ``ScriptedBody/completePendingRead()``, `interrupt()` or ``ScriptedBody/release()``
        /// is called.
        case received([UInt8])
        /// Nothing arrives until a test interrupts or ``ScriptedBody/release()`` is called.
        case pause
        /// Runs a closure.
        case event(@Sendable () async -> Void)
        /// The read fails.
        case fails(BodyError)
    }

    private struct State: Sendable {
        var steps: [Step]
        var isInterrupted = false
        var isReleased = false
        var waiter: CheckedContinuation<Void, Never>?
        var pauseWaiter: CheckedContinuation<Void, Never>?
        var isPaused = false
        /// Bytes that reads have returned.
        var returned: Int64 = 0
        /// Bytes in the buffer of a read that waits for more.
        var received: Int64 = 0
        var reads = 0
        var interimResponses: [Response] = []

        /// Ends a pause, and returns what was received meanwhile.
        mutating func resumeWaiter() -> CheckedContinuation<Void, Never>? {
            returned += received
            received = 0
            defer { waiter = nil }
            return waiter
        }
    }

    let length: Int64?
    let trailer: [String]
    private let state: Locked<State>

    init(_ steps: [Step], length: Int64?, trailer: [String] = []) {
        self.length = length
        self.trailer = trailer
        state = Locked(State(steps: steps))
    }

    convenience init(_ bytes: [UInt8]) {
        self.init(bytes.isEmpty ? [] : [.bytes(bytes)], length: Int64(bytes.count))
    }

    /// How often bytes were requested.
    var reads: Int { state.withLock { $0.reads } }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        state.withLock { $0.reads += 1 }
        while true {
            let (isInterrupted, step) = state.withLock { state in
                (state.isInterrupted, state.steps.isEmpty ? nil : state.steps.removeFirst())
            }
            if isInterrupted { throw .superseded }
            guard let step else { return }
            switch step {
            case .bytes(let bytes):
                let taken = buffer.append(bytes.span)
                if taken < bytes.count {
                    state.withLock { state in
                        state.steps.insert(.bytes(Array(bytes.dropFirst(taken))), at: 0)
                    }
                }
                state.withLock { $0.returned += Int64(taken) }
                return
            case .received(let bytes):
                await pause(with: buffer.append(bytes.span))
                return
            case .event(let event): await event()
            case .pause: await pause()
            case .fails(let error):
                state.withLock { $0.steps = [.fails(error)] }
                throw error
            }
        }
    }

    /// The interim responses sent so far.
    var interimResponses: [Response] { state.withLock { $0.interimResponses } }

    func sendInterim(_ response: Response) {
        state.withLock { $0.interimResponses.append(response) }
    }

    func interrupt() {
        state.withLock { $0.isInterrupted = true }
        release()
    }

    func completePendingRead() async -> Int64 {
        let (waiter, count) = state.withLock { state in
            let waiter = state.received > 0 ? state.resumeWaiter() : nil
            return (waiter, state.returned)
        }
        waiter?.resume()
        return count
    }

    /// Ends a pause.
    func release() {
        let waiter = state.withLock { state in
            state.isReleased = true
            return state.resumeWaiter()
        }
        waiter?.resume()
    }

    /// Waits until a read is paused.
    func untilPaused() async {
        await withCheckedContinuation { continuation in
            let isPaused = state.withLock { state in
                if !state.isPaused { state.pauseWaiter = continuation }
                return state.isPaused
            }
            if isPaused { continuation.resume() }
        }
    }

    private func pause(with received: Int = 0) async {
        await withCheckedContinuation { continuation in
            let (isReleased, watcher) = state.withLock { state in
                state.isPaused = true
                if state.isReleased {
                    state.returned += Int64(received)
                } else {
                    state.received = Int64(received)
                }
                defer { state.pauseWaiter = nil }
                if !state.isReleased { state.waiter = continuation }
                return (state.isReleased, state.pauseWaiter)
            }
            watcher?.resume()
            if isReleased { continuation.resume() }
        }
    }
}
