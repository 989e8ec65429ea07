import Blobs
import HTTP
import SystemSupport

/// A body that does what a test wrote down, without a socket.
final class ScriptedBody: RequestBody {
    enum Step: Sendable {
        /// Bytes arrive; a buffer too small takes them in several reads.
        case bytes([UInt8])
        /// Bytes arrive, and the read keeps waiting for more, as a socket's does; they are handed over
        /// when asked for, when the body is interrupted or after ``ScriptedBody/release()``.
        case received([UInt8])
        /// Nothing arrives until a test interrupts or ``ScriptedBody/release()`` is called.
        case pause
        /// Something else happens in the world, or is waited for.
        case event(@Sendable () async -> Void)
        /// It breaks off.
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
        var handedOver: Int64 = 0
        /// Bytes in the buffer of a read that waits for more.
        var received: Int64 = 0
        var reads = 0
        var informed: [Response] = []

        /// Ends a pause, with what was received meanwhile.
        mutating func resumeWaiter() -> CheckedContinuation<Void, Never>? {
            handedOver += received
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
                state.withLock { $0.handedOver += Int64(taken) }
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
    var informed: [Response] { state.withLock { $0.informed } }

    func sendInterim(_ response: Response) { state.withLock { $0.informed.append(response) } }

    func interrupt() {
        state.withLock { $0.isInterrupted = true }
        release()
    }

    func completePendingRead() async -> Int64 {
        let (waiter, count) = state.withLock { state in
            let waiter = state.received > 0 ? state.resumeWaiter() : nil
            return (waiter, state.handedOver)
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

    /// Waits until the reader has come to a pause.
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
                    state.handedOver += Int64(received)
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
