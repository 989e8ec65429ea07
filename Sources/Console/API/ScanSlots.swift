import MessagingWire
import SystemSupport

/// Limits the queries of the console that may examine many rows: four run at once, and sixteen wait.
final class ScanSlots: Sendable {
    static let (limit, waitingLimit) = (4, 16)

    private struct State {
        var running = 0
        /// In the order of their arrival; each continues with whether it may run.
        var waiting: [CheckedContinuation<Bool, Never>] = []
    }

    private let state = Locked(State())

    /// Runs a query when one of the slots is free.
    ///
    /// - Throws: 429 when too many wait; what the query throws.
    func run<Value: Sendable>(
        _ query: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard await take() else {
            throw APIError.rateLimited(
                "Too many searches of the console are running.", retryAfter: 1)
        }
        defer { give() }
        return try await query()
    }

    private func take() async -> Bool {
        await withCheckedContinuation { continuation in
            let decision = state.withLock { state -> Bool? in
                if state.running < Self.limit {
                    state.running += 1
                    return true
                }
                guard state.waiting.count < Self.waitingLimit else { return false }
                state.waiting.append(continuation)
                return nil
            }
            if let decision { continuation.resume(returning: decision) }
        }
    }

    /// Gives the slot to the query that has waited longest.
    private func give() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume(returning: true)
    }
}
