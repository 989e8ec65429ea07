import FoundationEssentials
import TestSupport
import Testing

/// Random requests in all versions, compared with a model of the domain.
///
/// `PARLEY_TEST_SEED` selects another sequence, `PARLEY_TEST_OPERATIONS` its length.
@Suite struct `Random operations compared with a model` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = UInt64(environment["PARLEY_TEST_SEED"] ?? "") ?? 1
    private static let operations = Int(environment["PARLEY_TEST_OPERATIONS"] ?? "") ?? 10_000
    private static let length = 200
    private static let lanes = 2

    @Test(arguments: 0..<lanes)
    func `responses, views, the event log and an import agree with the model (A to J, X3, X10)`(
        lane: Int
    ) async throws {
        // Every other sequence has conversations that become wide and narrow again (ruling 38).
        let all = [try await ModelServers.make(), try await ModelServers.make(wideAbove: 3)]
        let count = max(all.count, Self.operations / Self.length)
        for number in stride(from: lane, to: count, by: Self.lanes) {
            let servers = all[number / Self.lanes % all.count]
            let seed = Self.seed &* 1_000_003 &+ UInt64(number)
            let sequence = ModelGenerator.sequence(seed: seed, count: Self.length)
            guard let failure = try await ModelRun.failure(of: sequence, on: servers) else {
                continue
            }
            let minimal = try await minimal(sequence, failure, on: servers)
            Issue.record(
                "PARLEY_TEST_SEED=\(Self.seed), sequence \(number): \(minimal.count) operations, \(minimal.failure)"
            )
            return
        }
    }

    @Test func `a wrong rule about deleted messages is shrunk to three requests`() async throws {
        let minimal = try await minimal(of: .deletedMessagesStayUnread)
        #expect(minimal.count == 3, "\(minimal.failure)")
        let requests = minimal.failure.history.prefix(3)
        #expect(requests.first?.contains("POST") == true)
        #expect(requests.last?.contains("DELETE") == true)
    }

    @Test func `a wrong rule about changed participants is shrunk to two requests`() async throws {
        let minimal = try await minimal(of: .changedSetsStayDistinct)
        #expect(minimal.count == 2, "\(minimal.failure)")
        #expect(minimal.failure.history.first?.contains(#""distinct":true"#) == true)
    }

    @Test func `a shrunk sequence fails only as a whole`() async {
        for (first, second, third) in [(0, 1, 2), (3, 50, 99), (97, 98, 99), (0, 64, 65)] {
            let minimal = await shrunk(Array(0..<100)) { numbers in
                Set(numbers).isSuperset(of: [first, second, third])
            }
            #expect(minimal == [first, second, third])
        }
    }

    /// The shortest of some minimal sequences, because there may be several.
    private func minimal(
        of wrongRule: ReferenceModel.WrongRule
    ) async throws -> (count: Int, failure: ModelFailure) {
        let servers = try await ModelServers.make()
        var found: [(count: Int, failure: ModelFailure)] = []
        for seed in 1...4 as ClosedRange<UInt64> {
            let sequence = ModelGenerator.sequence(seed: seed, count: Self.length)
            guard
                let failure = try await ModelRun.failure(
                    of: sequence, on: servers, wrongRule: wrongRule)
            else { continue }
            found.append(try await minimal(sequence, failure, on: servers, wrongRule))
        }
        return try #require(found.min { one, other in one.count < other.count })
    }

    private func minimal(
        _ sequence: [ModelOperation], _ failure: ModelFailure, on servers: ModelServers,
        _ wrongRule: ReferenceModel.WrongRule? = nil
    ) async throws -> (count: Int, failure: ModelFailure) {
        var last = failure
        let failing = sequence.filter { operation in operation.number <= failure.number }
        let minimal = try await shrunk(failing) { shorter in
            guard
                let found = try await ModelRun.failure(
                    of: shorter, on: servers, wrongRule: wrongRule)
            else { return false }
            last = found
            return true
        }
        return (minimal.count, last)
    }
}

/// Searches a minimal sequence that still fails (delta debugging): first large chunks are removed, then
/// smaller ones, at last single elements.
///
/// - Parameters:
///   - sequence: A sequence that fails.
///   - tries: The largest number of subsequences to try.
///   - fails: Whether a subsequence fails.
/// - Returns: A subsequence that fails; if `tries` was enough, no single element of it can be removed.
func shrunk<Element>(
    _ sequence: [Element], tries: Int = 400,
    while fails: ([Element]) async throws -> Bool
) async rethrows -> [Element] {
    var (kept, left, size) = (sequence, tries, max(1, sequence.count / 2))
    while true {
        var (start, hasChanged) = (0, false)
        while start < kept.count {
            guard left > 0 else { return kept }
            left -= 1
            var shorter = kept
            shorter.removeSubrange(start..<min(start + size, kept.count))
            if try await fails(shorter) {
                (kept, hasChanged) = (shorter, true)
            } else {
                start += size
            }
        }
        if size == 1, !hasChanged { return kept }
        if !hasChanged || size > kept.count { size = max(1, size / 2) }
    }
}
