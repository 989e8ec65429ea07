import Messaging
import SQL
import SQLPostgres
import SystemSupport
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `A lease` {
    @Test func `belongs to one process until it is released`() async throws {
        let contest = try await LeaseContest()
        #expect(try await contest.first.take())
        #expect(try await !contest.second.take())
        #expect(try await contest.first.take())
        await contest.first.release()
        #expect(try await contest.second.take())
        #expect(try await !contest.first.take())
    }

    @Test func `is lost by a holder that does not renew it for its lifetime, not before`()
        async throws
    {
        let contest = try await LeaseContest()
        #expect(try await contest.first.take())
        #expect(try await !contest.second.take())
        contest.wait(Lease.duration - .milliseconds(1))
        #expect(try await !contest.second.take())
        contest.wait(.milliseconds(1))
        #expect(try await contest.second.take())
        #expect(try await !contest.first.take())
    }

    @Test func `is kept by a holder that renews it`() async throws {
        let contest = try await LeaseContest()
        for _ in 0..<5 {
            #expect(try await contest.first.take())
            #expect(try await !contest.second.take())
            contest.wait(Lease.duration - .seconds(1))
        }
    }

    @Test func `is taken by one of many processes that try at once`() async throws {
        let contest = try await LeaseContest()
        let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<20 {
                group.addTask { try await contest.lease(number.isMultiple(of: 2)).take() }
            }
            return try await group.reduce(into: 0) { count, isTaken in count += isTaken ? 1 : 0 }
        }
        #expect(taken == 1)
    }

    @Test func `prevents the same work elsewhere, and is held afterwards`()
        async throws
    {
        let contest = try await LeaseContest()
        let result = try await contest.first.hold { [contest] in
            let other = try await contest.second.hold { 2 }
            #expect(other == nil)
            return 1
        }
        #expect(result == 1)
        let (second, first) = (
            try await contest.second.hold { 2 }, try await contest.first.hold { 3 }
        )
        #expect(second == nil)
        #expect(first == 3)
    }

    @Test func `is always held on a file, which only one process serves`() async throws {
        let sample = try await SampleApplication(at: .temporary)
        let (first, second) = (Lease("a", of: sample.store), Lease("a", of: sample.store))
        for lease in [first, second, first] {
            let result = try await lease.hold { 1 }
            #expect(result == 1)
        }
    }
}

/// Two processes on one PostgreSQL server that compete for a lease, with a common clock.
private final class LeaseContest: Sendable {
    let first: Lease
    let second: Lease
    private let samples: [SampleApplication]
    private let clock = Locked(Duration.zero)

    init() async throws {
        let location = DatabaseLocation.server(PostgresServer.shared.newSchema())
        let one = try await SampleApplication(at: location)
        samples = [one, try await SampleApplication(at: location, opening: one.application)]
        first = Self.lease(samples[0], clock)
        second = Self.lease(samples[1], clock)
    }

    func wait(_ duration: Duration) { clock.withLock { clock in clock += duration } }

    /// Another lease of the first or the second process.
    func lease(_ isFirst: Bool) -> Lease { Self.lease(samples[isFirst ? 0 : 1], clock) }

    private static func lease(_ sample: SampleApplication, _ clock: Locked<Duration>) -> Lease {
        Lease("work", of: sample.store, elapsed: { clock.withLock { clock in clock } })
    }
}
