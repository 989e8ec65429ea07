import Messaging
import Testing

@testable import MessagingStore

@Suite struct `Identities` {
    @Test func `naming an unknown user id creates the user (R90)`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana])
        let user = try await sample.store.user(.ana, in: sample.application)
        #expect(user.identityStatus == .named)
        #expect(user.knownIdentity == Identity(userID: .ana))
    }

    @Test func `an identity that was only named can be created, a provided one cannot (5_7)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana])
        let ana = Identity(userID: .ana, displayName: "Ana")
        let first = try await sample.store.createIdentity(ana, in: sample.application)
        #expect(first == .created(first.object))
        let other = Identity(userID: .ana, displayName: "Other")
        let second = try await sample.store.createIdentity(other, in: sample.application)
        #expect(second == .idInUse(first.object))
        #expect(first.object.identity == ana)
    }

    @Test func `the version is incremented by each change and by deletion (X4)`() async throws {
        let sample = try await SampleApplication()
        let (store, application) = (sample.store, sample.application)
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

    @Test func `a change without effect records no event and keeps the version (R48)`() async throws
    {
        let sample = try await SampleApplication()
        let ana = Identity(userID: .ana, displayName: "Ana", metadata: ["a": "b"])
        try await sample.store.replaceIdentity(ana, in: sample.application)
        let kinds = try await sample.kinds {
            try await sample.store.replaceIdentity(ana, in: sample.application)
            try await sample.patch(.ana, .set(.displayName, "Ana"), .deleteMetadataKey("x"))
            try await sample.patch(.ana, .setMetadataKey("c", "d"), .setMetadata(["a": "b"]))
        }
        #expect(kinds == [])
    }

    @Test func `another Unicode form of the same text is a change (ruling 7)`() async throws {
        let sample = try await SampleApplication()
        try await sample.store.replaceIdentity(
            Identity(userID: .ana, displayName: "\u{E9}"), in: sample.application)
        let kinds = try await sample.kinds {
            try await sample.patch(.ana, .set(.displayName, "e\u{301}"))
        }
        #expect(kinds == ["identity.patched"])
    }

    @Test func `17 keys are rejected, 16 after a deletion in the same patch accepted (R49)`()
        async throws
    {
        let sample = try await SampleApplication()
        let full = Dictionary(uniqueKeysWithValues: (1...16).map { ("k\($0)", "v") })
        try await sample.store.replaceIdentity(
            Identity(userID: .ana, displayName: "Ana", metadata: full), in: sample.application)
        let count = Rejection.Detail(amount: 17)
        await #expect(throws: Rejection.invalid("metadata", .identityMetadataCount, count)) {
            try await sample.patch(.ana, .setMetadataKey("k17", "v"))
        }
        try await sample.patch(.ana, .setMetadataKey("k17", "v"), .deleteMetadataKey("k1"))
        let metadata = try await sample.store.identity(of: .ana, in: sample.application).identity
            .metadata
        #expect(metadata.count == 16)
        #expect(metadata["k1"] == nil && metadata["k17"] == "v")
    }

    @Test func `simultaneous patches of different keys all take effect (R47)`() async throws {
        let sample = try await SampleApplication()
        try await sample.store.replaceIdentity(
            Identity(userID: .ana, displayName: "Ana"), in: sample.application)
        try await withThrowingTaskGroup { group in
            for number in 0..<16 {
                group.addTask { try await sample.patch(.ana, .setMetadataKey("k\(number)", "v")) }
            }
            try await group.waitForAll()
        }
        let user = try await sample.store.identity(of: .ana, in: sample.application)
        #expect(user.identity.metadata.count == 16)
        #expect(user.identityVersion == 17)
    }

    @Test func `a user without identity cannot send unless they are a participant (ruling 10)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation([.ana])
        let draft = try Message.Draft(
            sender: .user(.bo), admission: .identities, senderProperty: "sender_id",
            parts: [MessagePart.Draft(mimeType: "a/b", body: .inline([1]))])
        await #expect(throws: Rejection.invalid("sender_id", .senderIdentity)) {
            try await sample.store.sendMessage(draft, to: conversation, in: sample.application)
        }
        try await sample.store.replaceIdentity(
            Identity(userID: .bo, displayName: "Bo"), in: sample.application)
        _ = try await sample.store.sendMessage(draft, to: conversation, in: sample.application)
        try await sample.store.deleteIdentity(of: .bo, in: sample.application)
        await #expect(throws: Rejection.invalid("sender_id", .senderIdentity)) {
            try await sample.store.sendMessage(draft, to: conversation, in: sample.application)
        }
        try await sample.patch(conversation, .addParticipant(.bo))
        #expect(try await sample.store.user(.bo, in: sample.application).identityStatus == .named)
        _ = try await sample.store.sendMessage(draft, to: conversation, in: sample.application)
    }

    @Test func `adding a former participant again creates an identity too (1_3, ruling 10)`()
        async throws
    {
        let sample = try await SampleApplication()
        let conversation = try await sample.create().object.conversation.id
        try await sample.patch(conversation, .removeParticipant(.bo))
        try await sample.store.deleteIdentity(of: .bo, in: sample.application)
        try await sample.patch(conversation, .addParticipant(.bo))
        #expect(try await sample.store.user(.bo, in: sample.application).identityStatus == .named)
        try await sample.expectSameRowsAgain()
    }

    @Test func `a user who is only blocked or suspended has no identity (3_8)`() async throws {
        let sample = try await SampleApplication()
        try await sample.store.patchUser(
            .ana, [.block(.bo), .suspend(true)], in: sample.application)
        for user in [UserID.ana, .bo] {
            let known = try await sample.store.user(user, in: sample.application)
            #expect(known.knownIdentity == nil)
            await #expect(throws: Rejection.notFound(.identity)) {
                try await sample.store.identity(of: user, in: sample.application)
            }
        }
    }
}

@Suite struct `Sessions` {
    @Test func `suspension ends them, and its end does not restore them (R92, R93)`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.store.patchUser(.ana, [.suspend(true)], in: sample.application)
        let suspended = try await sample.store.user(.ana, in: sample.application)
        #expect(suspended.isSuspended)
        #expect(suspended.sessionsEndedAt == sample.store.environment.now())
        sample.tick()
        try await sample.store.patchUser(.ana, [.suspend(false)], in: sample.application)
        let free = try await sample.store.user(.ana, in: sample.application)
        #expect(!free.isSuspended)
        #expect(free.sessionsEndedAt == suspended.sessionsEndedAt)
    }

    @Test func `the server can still send as a suspended user (R93)`() async throws {
        let sample = try await SampleApplication()
        let conversation = try await sample.conversation()
        try await sample.store.patchUser(.ana, [.suspend(true)], in: sample.application)
        try await sample.send("still here", by: .ana, to: conversation)
        #expect(try await sample.texts(of: conversation) == ["still here"])
    }

    @Test func `all until now can be ended (R92)`() async throws {
        let sample = try await SampleApplication()
        try await sample.conversation([.ana])
        let now = sample.tick()
        try await sample.store.endSessions(of: .ana, in: sample.application)
        #expect(try await sample.store.user(.ana, in: sample.application).sessionsEndedAt == now)
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.store.endSessions(of: .bo, in: sample.application)
        }
    }

    @Test func `setting their lifetime is an event of the application (R94)`() async throws {
        let sample = try await SampleApplication()
        #expect(try await sample.store.application(sample.application)?.sessionLifetime == nil)
        let kinds = try await sample.kinds {
            try await sample.store.setSessionLifetime(3600, of: sample.application)
            try await sample.store.setSessionLifetime(3600, of: sample.application)
        }
        #expect(kinds == ["session_lifetime.set"])
        #expect(try await sample.store.application(sample.application)?.sessionLifetime == 3600)
    }
}

extension SampleApplication {
    fileprivate func patch(_ user: UserID, _ patches: IdentityPatch...) async throws {
        try await store.patchIdentity(of: user, patches, in: application)
    }
}
