import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Tokens` {
    @Test func `X12: a secret authorizes for its application and is stored only as a digest`()
        async throws
    {
        let sample = try await SampleApplication()
        let created = try await sample.store.createToken(for: sample.application, scope: .write)
        #expect(created.secret.hasPrefix("parley_"))
        #expect(created.secret.utf8.count == 7 + 43)
        let grant = try #require(try await sample.store.authenticate(created.secret.utf8))
        #expect(grant.application.id == sample.application)
        #expect(grant.token == created.token)
        #expect(try await !sample.rows().contains { row in row.contains(created.secret) })
    }

    @Test func `an unknown or slightly different secret is rejected`() async throws {
        let sample = try await SampleApplication()
        let secret = try await sample.store.createToken(for: sample.application, scope: .read)
            .secret
        for other in ["", "parley_", secret.uppercased(), secret + "A", String(secret.dropLast())] {
            #expect(try await sample.store.authenticate(other.utf8) == nil)
        }
    }

    @Test func `an expired secret is rejected, even if it is cached`() async throws {
        let sample = try await SampleApplication()
        let expiry = Timestamp(milliseconds: sample.tick().milliseconds + 500)
        let secret = try await sample.store.createToken(
            for: sample.application, scope: .read, expiresAt: expiry
        ).secret
        #expect(try await sample.store.authenticate(secret.utf8) != nil)
        sample.wait(milliseconds: 499)
        #expect(sample.store.cachedGrant(secret.utf8) != nil)
        sample.wait(milliseconds: 1)
        #expect(sample.store.cachedGrant(secret.utf8) == nil)
        #expect(try await sample.store.authenticate(secret.utf8) == nil)
    }

    @Test func `a revoked secret is rejected at once`() async throws {
        let sample = try await SampleApplication()
        let created = try await sample.store.createToken(for: sample.application, scope: .admin)
        #expect(try await sample.store.authenticate(created.secret.utf8) != nil)
        try await sample.store.revokeToken(created.token.id, of: sample.application)
        #expect(try await sample.store.authenticate(created.secret.utf8) == nil)
        #expect(try await sample.store.tokens(of: sample.application).map(\.revokedAt) != [nil])
    }

    @Test func `a secret revoked by another process is rejected within a second`() async throws {
        let sample = try await SampleApplication()
        let created = try await sample.store.createToken(for: sample.application, scope: .admin)
        #expect(try await sample.store.authenticate(created.secret.utf8) != nil)
        let elsewhere = MessagingStore(
            database: sample.database, environment: sample.store.environment)
        try await elsewhere.revokeToken(created.token.id, of: sample.application)
        sample.wait(milliseconds: 1000)
        #expect(try await sample.store.authenticate(created.secret.utf8) == nil)
    }

    @Test func `the grant of a suspended application is marked`() async throws {
        let sample = try await SampleApplication()
        let secret = try await sample.store.createToken(for: sample.application, scope: .read)
            .secret
        for isSuspended in [true, true, false] {
            try await sample.store.suspendApplication(sample.application, isSuspended)
            let grant = try await sample.store.authenticate(secret.utf8)
            #expect(grant?.application.isSuspended == isSuspended)
        }
    }

    @Test func `a secret provided twice makes one token`() async throws {
        let sample = try await SampleApplication()
        let first = try await sample.store.createToken(
            for: sample.application, scope: .admin, secret: "from the environment")
        let again = try await sample.store.createToken(
            for: sample.application, scope: .admin, secret: "from the environment")
        #expect(first == again)
        let other = try await sample.store.createApplication(name: "Other").id
        await #expect(throws: Rejection.idTaken(.token)) {
            try await sample.store.createToken(
                for: other, scope: .admin, secret: "from the environment")
        }
    }

    @Test func `an existing application is not created again`() async throws {
        let sample = try await SampleApplication()
        let again = try await sample.store.createApplication(name: "Again", id: sample.application)
        #expect(again.name == "Shop")
        #expect(try await sample.store.applications() == [again])
        await #expect(throws: Rejection.notFound(.application)) {
            try await sample.store.createToken(for: .sample(1), scope: .read)
        }
    }
}
