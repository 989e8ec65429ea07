import Synchronization
import SystemSupport

/// Whether this process accepts new requests: false from the stop signal on (H194), and once its
/// database was found damaged, which is permanent.
final class Readiness: Sendable {
    private let ending = Atomic<Bool>(false)

    var isOver: Bool { ending.load(ordering: .relaxed) }

    /// - Returns: Whether it was ready before.
    @discardableResult
    func end() -> Bool { !ending.exchange(true, ordering: .relaxed) }
}

/// Checks whether the database answers, at most once a second for all callers (H197).
final class ReadinessProbe: Sendable {
    /// Milliseconds for which a result is reused.
    private static let lifetime: Int64 = 1000

    private struct State {
        var answer: (isHealthy: Bool, time: Int64)?
        var isQuerying = false
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private enum Turn {
        case known(Bool)
        case query
        case wait
    }

    private let state = Locked(State())
    private let probe: @Sendable () async throws -> Void
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - now: Any clock, in milliseconds.
    ///   - probe: Reads something from the database; throws if that fails.
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
            // A result from the future was stored before the clock was set back.
            if let answer = state.answer, (0..<Self.lifetime).contains(now - answer.time) {
                return .known(answer.isHealthy)
            }
            if state.isQuerying { return .wait }
            state.isQuerying = true
            return .query
        }
        switch turn {
        case .known(let isHealthy): return isHealthy
        case .query: return await query(at: now)
        case .wait:
            return await withCheckedContinuation { continuation in
                let known: Bool? = state.withLock { state in
                    if state.isQuerying { state.waiting.append(continuation) }
                    return state.isQuerying ? nil : state.answer?.isHealthy ?? false
                }
                if let known { continuation.resume(returning: known) }
            }
        }
    }

    private func query(at time: Int64) async -> Bool {
        var isHealthy = true
        do {
            try await probe()
        } catch {
            // Without details (H197): the failing requests log the cause.
            isHealthy = false
        }
        let waiting = state.withLock { [isHealthy] state in
            state.answer = (isHealthy, time)
            state.isQuerying = false
            let waiting = state.waiting
            state.waiting = []
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: isHealthy) }
        return isHealthy
    }
}
