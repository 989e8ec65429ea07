import Bytes
import SystemSupport

/// Computes the hashes of passwords: two at a time, off the event loops, with sixteen waiting.
final class PasswordQueue: Sendable {
    /// Too many passwords wait.
    struct Full: Error {}

    private static let waiting = 16
    private let queues = [WorkQueue("parley.passwords.1"), WorkQueue("parley.passwords.2")]
    /// The hashes that each queue has to compute.
    private let loads = Locked([0, 0])

    /// Runs the work that computes a hash.
    ///
    /// - Throws: ``Full``, and what the work throws.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        let chosen = loads.withLock { loads -> Int? in
            guard loads[0] + loads[1] < queues.count + Self.waiting else { return nil }
            let index = loads[0] <= loads[1] ? 0 : 1
            loads[index] += 1
            return index
        }
        guard let chosen else { throw Full() }
        defer { loads.withLock { loads in loads[chosen] -= 1 } }
        return try await queues[chosen].run { () throws in try work() }
    }
}
