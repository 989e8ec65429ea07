import Synchronization
import SystemSupport

/// Whether this process wants new requests; false from the stop signal on (H194), and once its database has
/// been found damaged, which does not pass.
final class Readiness: Sendable {
    private let ending = Atomic<Bool>(false)

    var isOver: Bool { ending.load(ordering: .relaxed) }

    /// - Returns: Whether it was not over before.
    @discardableResult
    func end() -> Bool { !ending.exchange(true, ordering: .relaxed) }
}

/// Asks the database whether it answers: once a second at most, however many ask (H197).
final class ReadinessProbe: Sendable {
    /// How long an answer holds, in milliseconds.
    private static let life: Int64 = 1000

    private struct State {
        var answer: (isHealthy: Bool, time: Int64)?
        var isAsking = false
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private enum Turn {
        case known(Bool)
        case ask
        case wait
    }

    private let state = Locked(State())
    private let probe: @Sendable () async throws -> Void
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - now: Any clock, in milliseconds.
    ///   - probe: Reads something from the database; throws when it cannot.
    init(
        now: @escaping @Sendable () -> Int64, probe: @escaping @Sendable () async throws -> Void
    ) {
        self.now = now
        self.probe = probe
    }

    /// Whether the database answers.
    func isHealthy() async -> Bool {
        let now = self.now()
        let turn: Turn = state.withLock { state in
            // An answer from later than now is one from before the clock was set.
            if let answer = state.answer, (0..<Self.life).contains(now - answer.time) {
                return .known(answer.isHealthy)
            }
            if state.isAsking { return .wait }
            state.isAsking = true
            return .ask
        }
        switch turn {
        case .known(let isHealthy): return isHealthy
        case .ask: return await ask(at: now)
        case .wait:
            return await withCheckedContinuation { continuation in
                let known: Bool? = state.withLock { state in
                    if state.isAsking { state.waiting.append(continuation) }
                    return state.isAsking ? nil : state.answer?.isHealthy ?? false
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    private func ask(at time: Int64) async -> Bool {
        var isHealthy = true
        do {
            try await probe()
        } catch {
            // Without details (H197): whoever reads the log finds the cause at the requests.
            isHealthy = false
        }
        let waiting = state.withLock { [isHealthy] state in
            state.answer = (isHealthy, time)
            state.isAsking = false
            let waiting = state.waiting
            state.waiting = []
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: isHealthy) }
        return isHealthy
    }
}
