import Messaging
import SQL
import SQLPostgres
import TestSupport
import Testing

@testable import MessagingStore

@Suite struct `Processes that share a database` {
    private let first: SampleApplication
    private let second: SampleApplication

    init() async throws {
        let location = DatabaseLocation.server(PostgresServer.shared.newSchema())
        first = try await SampleApplication(at: location)
        second = try await SampleApplication(at: location, opening: first.application)
    }

    private static let origin = AuditOrigin(actor: "admin", address: "127.0.0.1", request: "1")

    private func report(_ sample: SampleApplication, _ statistics: String) async throws {
        try await sample.store.reportProcess(
            version: "1", startedAt: Timestamp(milliseconds: 1), statistics: statistics)
    }

    @Test func `see each other with their leases until they stop`() async throws {
        try await report(first, #"{"requests":1}"#)
        try await report(second, #"{"requests":2}"#)
        try await report(second, #"{"requests":3}"#)
        let lease = Lease("webhooks", of: second.store)
        #expect(try await lease.take())
        let found = try await first.store.processes()
        #expect(Set(found.map(\.id)) == [first.store.process, second.store.process])
        let other = try #require(found.first { $0.id == second.store.process })
        #expect(other.leases == ["webhooks"])
        #expect(other.statistics == #"{"requests":3}"#)
        #expect(found.first { $0.id == first.store.process }?.leases == [])
        try await second.store.removeProcess()
        #expect(try await first.store.processes().map(\.id) == [first.store.process])
    }

    @Test func `see a job as interrupted when its process reports nothing any more`() async throws {
        try await report(first, "{}")
        let job = ConsoleJob(
            id: .sample(1), kind: .export, application: first.application, state: .running,
            process: first.store.process, actor: "admin", startedAt: first.store.environment.now())
        try await first.store.startJob(job, from: Self.origin)
        #expect(try await second.store.job(job.id)?.state == .running)
        #expect(try await second.store.restartJob(job.id, from: Self.origin) == nil)
        try await first.store.removeProcess()
        #expect(try await second.store.job(job.id)?.state == .interrupted)
        #expect(try await first.store.job(job.id)?.state == .running)
        let again = try await second.store.restartJob(job.id, from: Self.origin)
        #expect(again?.process == second.store.process)
        // The first process learns with its next report of progress that the job is no longer its own.
        #expect(try await !first.store.noteJob(job.id, done: 1, total: 2))
        #expect(try await second.store.noteJob(job.id, done: 1, total: 2))
        #expect(try await second.store.jobs(of: nil).map(\.done) == [1])
        #expect(try await second.store.jobs(of: first.application).map(\.total) == [2])
    }
}
