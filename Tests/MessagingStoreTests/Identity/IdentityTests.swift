import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Identities` {
    @Test func `naming an unknown id creates the user (R90)`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana])
        let user = try await shop.store.user(.ana, in: shop.application)
        #expect(user.standing == .named)
        #expect(user.knownIdentity == Identity(userID: .ana))
    }

    @Test func `one that being named made may be created, a told one not (5_7)`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana])
        let ana = Identity(userID: .ana, displayName: "Ana")
        let first = try await shop.store.createIdentity(ana, in: shop.application)
        #expect(first == .created(first.object))
        let other = Identity(userID: .ana, displayName: "Other")
        let second = try await shop.store.createIdentity(other, in: shop.application)
        #expect(second == .idInUse(first.object))
        #expect(first.object.identity == ana)
    }

    @Test func `the version rises with each change, also by its deletion (X4)`() async throws {
        let shop = try await Shop()
        let (store, application) = (shop.store, shop.application)
        var versions: [Int64] = []
        let ana = Identity(userID: .ana, displayName: "Ana")
        versions.append(
            try await store.createIdentity(ana, in: application).object.identityVersion)
        versions.append(
            try await store.patchIdentity(of: .ana, [.set(.firstName, "A")], in: application)
                .identityVersion)
        versions.append(try await store.replaceIdentity(ana, in: application).identityVersion)
        try await store.deleteIdentity(of: .ana, in: application)
        versions.append(
            try await store.createIdentity(ana, in: application).object.identityVersion)
        #expect(versions == [1, 2, 3, 5])
    }

    @Test func `a change that changes nothing is no event and no version (R48)`() async throws {
        let shop = try await Shop()
        let ana = Identity(userID: .ana, displayName: "Ana", metadata: ["a": "b"])
        try await shop.store.replaceIdentity(ana, in: shop.application)
        let kinds = try await shop.kinds {
            try await shop.store.replaceIdentity(ana, in: shop.application)
            try await shop.patch(.ana, .set(.displayName, "Ana"), .deleteMetadataKey("x"))
            try await shop.patch(.ana, .setMetadataKey("c", "d"), .setMetadata(["a": "b"]))
        }
        #expect(kinds == [])
    }

    @Test func `another spelling of the same letters is a change (rulings 7)`() async throws {
        let shop = try await Shop()
        try await shop.store.replaceIdentity(
            Identity(userID: .ana, displayName: "\u{E9}"), in: shop.application)
        let kinds = try await shop.kinds {
            try await shop.patch(.ana, .set(.displayName, "e\u{301}"))
        }
        #expect(kinds == ["identity.patched"])
    }

    @Test func `17 keys are refused, 16 after a deletion in the same patch not (R49)`()
        async throws
    {
        let shop = try await Shop()
        let full = Dictionary(uniqueKeysWithValues: (1...16).map { ("k\($0)", "v") })
        try await shop.store.replaceIdentity(
            Identity(userID: .ana, displayName: "Ana", metadata: full), in: shop.application)
        let count = Rejection.Detail(amount: 17)
        await #expect(throws: Rejection.invalid("metadata", .identityMetadataCount, count)) {
            try await shop.patch(.ana, .setMetadataKey("k17", "v"))
        }
        try await shop.patch(.ana, .setMetadataKey("k17", "v"), .deleteMetadataKey("k1"))
        let metadata = try await shop.store.identity(of: .ana, in: shop.application).identity
            .metadata
        #expect(metadata.count == 16)
        #expect(metadata["k1"] == nil && metadata["k17"] == "v")
    }

    @Test func `patches of different keys at once are all kept (R47)`() async throws {
        let shop = try await Shop()
        try await shop.store.replaceIdentity(
            Identity(userID: .ana, displayName: "Ana"), in: shop.application)
        try await withThrowingTaskGroup { group in
            for number in 0..<16 {
                group.addTask { try await shop.patch(.ana, .setMetadataKey("k\(number)", "v")) }
            }
            try await group.waitForAll()
        }
        let user = try await shop.store.identity(of: .ana, in: shop.application)
        #expect(user.identity.metadata.count == 16)
        #expect(user.identityVersion == 17)
    }

    @Test func `a deleted identity cannot send unless it takes part (rulings 10)`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation([.ana])
        let draft = try Message.Draft(
            sender: .user(.bo), admission: .identities, senderProperty: "sender_id",
            parts: [MessagePart.Draft(mimeType: "a/b", body: .inline([1]))])
        await #expect(throws: Rejection.invalid("sender_id", .senderIdentity)) {
            try await shop.store.sendMessage(draft, to: conversation, in: shop.application)
        }
        try await shop.store.replaceIdentity(
            Identity(userID: .bo, displayName: "Bo"), in: shop.application)
        _ = try await shop.store.sendMessage(draft, to: conversation, in: shop.application)
        try await shop.store.deleteIdentity(of: .bo, in: shop.application)
        await #expect(throws: Rejection.invalid("sender_id", .senderIdentity)) {
            try await shop.store.sendMessage(draft, to: conversation, in: shop.application)
        }
        try await shop.patch(conversation, .addParticipant(.bo))
        #expect(try await shop.store.user(.bo, in: shop.application).standing == .named)
        _ = try await shop.store.sendMessage(draft, to: conversation, in: shop.application)
    }

    @Test func `adding a former participant again makes an identity, too (1_3, rulings 10)`()
        async throws
    {
        let shop = try await Shop()
        let conversation = try await shop.create().object.conversation.id
        try await shop.patch(conversation, .removeParticipant(.bo))
        try await shop.store.deleteIdentity(of: .bo, in: shop.application)
        try await shop.patch(conversation, .addParticipant(.bo))
        #expect(try await shop.store.user(.bo, in: shop.application).standing == .named)
        try await shop.expectSameRowsAgain()
    }

    @Test func `a user who is only blocked or suspended has no identity (3_8)`() async throws {
        let shop = try await Shop()
        try await shop.store.patchUser(.ana, [.block(.bo), .suspend(true)], in: shop.application)
        for user in [UserID.ana, .bo] {
            let known = try await shop.store.user(user, in: shop.application)
            #expect(known.knownIdentity == nil)
            await #expect(throws: Rejection.notFound(.identity)) {
                try await shop.store.identity(of: user, in: shop.application)
            }
        }
    }
}

@Suite struct `Sessions to come` {
    @Test func `suspending ends them, setting free does not bring them back (R92, R93)`()
        async throws
    {
        let shop = try await Shop()
        try await shop.store.patchUser(.ana, [.suspend(true)], in: shop.application)
        let suspended = try await shop.store.user(.ana, in: shop.application)
        #expect(suspended.isSuspended)
        #expect(suspended.sessionsEndedAt == shop.store.environment.now())
        shop.tick()
        try await shop.store.patchUser(.ana, [.suspend(false)], in: shop.application)
        let free = try await shop.store.user(.ana, in: shop.application)
        #expect(!free.isSuspended)
        #expect(free.sessionsEndedAt == suspended.sessionsEndedAt)
    }

    @Test func `messages of a suspended user go on (R93)`() async throws {
        let shop = try await Shop()
        let conversation = try await shop.conversation()
        try await shop.store.patchUser(.ana, [.suspend(true)], in: shop.application)
        try await shop.send("still here", by: .ana, to: conversation)
        #expect(try await shop.texts(of: conversation) == ["still here"])
    }

    @Test func `they end up to now (R92)`() async throws {
        let shop = try await Shop()
        try await shop.conversation([.ana])
        let now = shop.tick()
        try await shop.store.endSessions(of: .ana, in: shop.application)
        #expect(try await shop.store.user(.ana, in: shop.application).sessionsEndedAt == now)
        await #expect(throws: Rejection.notFound(.user)) {
            try await shop.store.endSessions(of: .bo, in: shop.application)
        }
    }

    @Test func `their life is a fact of the application (R94)`() async throws {
        let shop = try await Shop()
        #expect(try await shop.store.application(shop.application)?.sessionLifetime == nil)
        let kinds = try await shop.kinds {
            try await shop.store.setSessionLifetime(3600, of: shop.application)
            try await shop.store.setSessionLifetime(3600, of: shop.application)
        }
        #expect(kinds == ["session_lifetime.set"])
        #expect(try await shop.store.application(shop.application)?.sessionLifetime == 3600)
    }
}

extension Shop {
    fileprivate func patch(_ user: UserID, _ patches: IdentityPatch...) async throws {
        try await store.patchIdentity(of: user, patches, in: application)
    }
}
