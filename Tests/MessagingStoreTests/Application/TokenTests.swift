import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Tokens` {
    @Test func `X12: a secret opens its application and is stored only as a digest`()
        async throws
    {
        let shop = try await Shop()
        let created = try await shop.store.createToken(for: shop.application, scope: .write)
        #expect(created.secret.hasPrefix("parley_"))
        #expect(created.secret.utf8.count == 7 + 43)
        let grant = try #require(try await shop.store.authenticate(created.secret.utf8))
        #expect(grant.application.id == shop.application)
        #expect(grant.token == created.token)
        #expect(try await !shop.rows().contains { row in row.contains(created.secret) })
    }

    @Test func `an unknown or nearly right secret opens nothing`() async throws {
        let shop = try await Shop()
        let secret = try await shop.store.createToken(for: shop.application, scope: .read).secret
        for other in ["", "parley_", secret.uppercased(), secret + "A", String(secret.dropLast())] {
            #expect(try await shop.store.authenticate(other.utf8) == nil)
        }
    }

    @Test func `an expired secret opens nothing, however lately it was read`() async throws {
        let shop = try await Shop()
        let expiry = Timestamp(milliseconds: shop.tick().milliseconds + 500)
        let secret = try await shop.store.createToken(
            for: shop.application, scope: .read, expiresAt: expiry
        ).secret
        #expect(try await shop.store.authenticate(secret.utf8) != nil)
        shop.wait(milliseconds: 499)
        #expect(shop.store.cachedGrant(secret.utf8) != nil)
        shop.wait(milliseconds: 1)
        #expect(shop.store.cachedGrant(secret.utf8) == nil)
        #expect(try await shop.store.authenticate(secret.utf8) == nil)
    }

    @Test func `a revoked secret opens nothing at once`() async throws {
        let shop = try await Shop()
        let created = try await shop.store.createToken(for: shop.application, scope: .admin)
        #expect(try await shop.store.authenticate(created.secret.utf8) != nil)
        try await shop.store.revokeToken(created.token.id, of: shop.application)
        #expect(try await shop.store.authenticate(created.secret.utf8) == nil)
        #expect(try await shop.store.tokens(of: shop.application).map(\.revokedAt) != [nil])
    }

    @Test func `what another process revokes is seen within a second`() async throws {
        let shop = try await Shop()
        let created = try await shop.store.createToken(for: shop.application, scope: .admin)
        #expect(try await shop.store.authenticate(created.secret.utf8) != nil)
        let elsewhere = MessagingStore(
            database: shop.database, environment: shop.store.environment)
        try await elsewhere.revokeToken(created.token.id, of: shop.application)
        shop.wait(milliseconds: 1000)
        #expect(try await shop.store.authenticate(created.secret.utf8) == nil)
    }

    @Test func `a suspended application says so in the grant`() async throws {
        let shop = try await Shop()
        let secret = try await shop.store.createToken(for: shop.application, scope: .read).secret
        for isSuspended in [true, true, false] {
            try await shop.store.suspendApplication(shop.application, isSuspended)
            let grant = try await shop.store.authenticate(secret.utf8)
            #expect(grant?.application.isSuspended == isSuspended)
        }
    }

    @Test func `a secret brought twice makes one token`() async throws {
        let shop = try await Shop()
        let first = try await shop.store.createToken(
            for: shop.application, scope: .admin, secret: "from the environment")
        let again = try await shop.store.createToken(
            for: shop.application, scope: .admin, secret: "from the environment")
        #expect(first == again)
        let other = try await shop.store.createApplication(name: "Other").id
        await #expect(throws: Rejection.idTaken(.token)) {
            try await shop.store.createToken(
                for: other, scope: .admin, secret: "from the environment")
        }
    }

    @Test func `an application that exists is not made again`() async throws {
        let shop = try await Shop()
        let again = try await shop.store.createApplication(name: "Again", id: shop.application)
        #expect(again.name == "Shop")
        #expect(try await shop.store.applications() == [again])
        await #expect(throws: Rejection.notFound(.application)) {
            try await shop.store.createToken(for: .sample(1), scope: .read)
        }
    }
}
