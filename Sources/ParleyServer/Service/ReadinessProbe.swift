import SQL
import SystemSupport

/// Why a server is not ready, as one sentence without details of the fault (H197): the log has them.
enum UnreadyReason: String, Sendable {
    case stopping = "The server is stopping."
    case damaged = "The database is damaged; the log of the server says what to do."
    case full = "The disk of the database is full."
    case unreachable = "The database does not answer."

    /// The reason that an error of the database shows.
    init(_ error: any Error) {
        switch (error as? SQLError)?.kind {
        case .corrupt, .notADatabase: self = .damaged
        case .diskFull: self = .full
        default: self = .unreachable
        }
    }
}

/// Whether this process accepts new requests: not from the stop signal on (H194), nor once its
/// database was found damaged, which is permanent.
final class Readiness: Sendable {
    private let ending = Locked<UnreadyReason?>(nil)

    /// Why it accepts none; `nil` while it accepts them.
    var reason: UnreadyReason? { ending.withLock { reason in reason } }

    /// - Returns: Whether it was ready before.
    @discardableResult
    func end(_ reason: UnreadyReason) -> Bool {
        ending.withLock { known in
            defer { known = known ?? reason }
            return known == nil
        }
    }
}

/// Checks whether the database answers, at most once a second for all callers (H197).
final class ReadinessProbe: Sendable {
    /// Milliseconds for which a result is reused.
    private static let lifetime: Int64 = 1000

    private struct State {
        var answer: (fault: UnreadyReason?, time: Int64)?
        var isQuerying = false
        var waiting: [CheckedContinuation<UnreadyReason?, Never>] = []
    }

    private enum Turn {
        case known(UnreadyReason?)
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

    /// Why the database cannot be used; `nil` if it answers.
    func fault() async -> UnreadyReason? {
        let now = self.now()
        let turn: Turn = state.withLock { state in
            // A result from the future was stored before the clock was set back.
            if let answer = state.answer, (0..<Self.lifetime).contains(now - answer.time) {
                return .known(answer.fault)
            }
            if state.isQuerying { return .wait }
            state.isQuerying = true
            return .query
        }
        switch turn {
        case .known(let fault): return fault
        case .query: return await query(at: now)
        case .wait:
            return await withCheckedContinuation { continuation in
                let known: Turn = state.withLock { state in
                    if state.isQuerying {
                        state.waiting.append(continuation)
                        return .wait
                    }
                    return .known(state.answer?.fault)
                }
                if case .known(let fault) = known { continuation.resume(returning: fault) }
            }
        }
    }

    private func query(at time: Int64) async -> UnreadyReason? {
        var fault: UnreadyReason?
        do {
            try await probe()
        } catch {
            // The failing requests log the cause.
            fault = UnreadyReason(error)
        }
        let waiting = state.withLock { [fault] state in
            state.answer = (fault, time)
            state.isQuerying = false
            let waiting = state.waiting
            state.waiting = []
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: fault) }
        return fault
    }
}
