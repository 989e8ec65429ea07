import Messaging
import SQL
import Testing

@testable import MessagingStore

@Suite struct `The log` {
    @Test func `X3: positions have no gaps when changes are rejected`() async throws {
        let sample = try await SampleApplication()
        try await sample.recordEveryKindOfEvent()
        let positions = try await sample.events().map(\.position.number)
        #expect(positions == Array(1...Int64(positions.count)))
    }

    @Test func `X3: replaying the events makes the same rows`() async throws {
        let sample = try await SampleApplication()
        try await sample.recordEveryKindOfEvent()
        let events = try await sample.events()
        // An erasure rewrites the log, which then has neither the contents nor the parts that it erased.
        let ofErasures: Set<EventType> = [.messageErased, .announcementErased, .participantErased]
        #expect(
            Set(events.map(\.event.type)) == Set(EventType.allCases).subtracting(ofErasures))
        try await sample.expectSameRowsAgain()
    }

    @Test func `events after a position are read in pages`() async throws {
        let sample = try await SampleApplication()
        try await sample.recordEveryKindOfEvent()
        let all = try await sample.events()
        let page = try await sample.store.events(
            after: LogPosition(3), limit: 4, in: sample.application)
        #expect(page == Array(all[3..<7]))
    }

    @Test func `pages in either order have the events that a filter selects (X3)`() async throws {
        let sample = try await SampleApplication()
        try await sample.recordEveryKindOfEvent()
        let all = try await sample.events()
        let merged: Conversation.ID = .sample(3)
        let winner = try #require(
            all.lazy.compactMap { recorded -> Conversation.ID? in
                guard case .conversationMatched(let match) = recorded.event, match.alias == merged
                else { return nil }
                return match.conversation
            }.first)
        for (types, conversation, user) in [
            (nil, nil, nil), ([.messageSent, .badgeSet], nil, nil), (nil, merged, nil),
            (nil, nil, UserID.bo), ([.conversationCreated], nil, .ana),
            (nil, .sample(424_242), nil),
        ] as [(Set<EventType>?, Conversation.ID?, UserID?)] {
            let filter = EventFilter(
                types: types,
                conversation: conversation.map { id in id == merged ? [id, winner] : [id] },
                user: user)
            let wanted = all.filter(filter.selects).map(\.position)
            for isDescending in [false, true] {
                var query = EventLogQuery(
                    isDescending ? .descending(before: nil) : .ascending(after: nil),
                    types: types, conversation: conversation, user: user, limit: 3)
                query.window = 7
                var (found, scanned): ([LogPosition], Int64) = ([], 0)
                while true {
                    let page = try await sample.store.eventPage(query, in: sample.application)
                    #expect(page.events.count <= 3 && page.scanned <= 7)
                    found += page.events.map(\.recorded.position)
                    scanned += page.scanned
                    query.order =
                        isDescending
                        ? .descending(before: page.through) : .ascending(after: page.through)
                    guard page.isCut else { break }
                }
                #expect(found == (isDescending ? wanted.reversed() : wanted), "\(filter)")
                #expect(scanned == Int64(all.count))
            }
            #expect(conversation == .sample(424_242) ? wanted.isEmpty : !wanted.isEmpty)
        }
        for event in all {
            let last = try await sample.store.logPosition(before: event.at, in: sample.application)
            #expect(last == all.last { $0.at < event.at }?.position ?? .start)
        }
    }

    @Test func `each application has its own log`() async throws {
        let sample = try await SampleApplication()
        let other = try await sample.store.createApplication(name: "Other").id
        let events = try await sample.store.events(after: .start, limit: 10, in: other)
        #expect(events.map(\.position.number) == [1])
    }

    @Test func `the signal has the last readable position`() async throws {
        let sample = try await SampleApplication()
        let before = try #require(sample.store.signal.latest(in: sample.application))
        async let woken = sample.store.signal.wait(past: before, in: sample.application)
        try await sample.conversation()
        let position = try #require(await woken)
        #expect(position > before)
        #expect(try await sample.events().last?.position == position)
        let atOnce = await sample.store.signal.wait(past: before, in: sample.application)
        #expect(atOnce == position)
    }

    @Test func `a wait for the signal can be cancelled`() async throws {
        let sample = try await SampleApplication()
        let waiting = Task {
            await sample.store.signal.wait(past: LogPosition(100), in: sample.application)
        }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }

    @Test func `a refused change does not move the signal`() async throws {
        let sample = try await SampleApplication()
        let before = sample.store.signal.latest(in: sample.application)
        await #expect(throws: Rejection.self) { try await sample.send(to: .sample(1)) }
        #expect(sample.store.signal.latest(in: sample.application) == before)
    }
}

extension SampleApplication {
    /// Records every kind of event, and makes some rejected changes.
    func recordEveryKindOfEvent() async throws {
        let token = try await store.createToken(for: application, scope: .read).token
        try await store.revokeToken(token.id, of: application)
        try await store.renameApplication(application, "Market")
        try await store.suspendApplication(application, true)
        try await store.suspendApplication(application, false)
        try await changeUsers()
        try await store.patchUser(.bo, [.block(.named("ed")), .block(.bo)], in: application)
        try await store.patchUser(.bo, [.setBlocks([.cy, .ana])], in: application)
        try await exportTwice()
        try await create(isDistinct: true, metadata: ["a": ["b": "c"]], key: .sample(1))
        try await create(isDistinct: true, key: .sample(2))
        try await create(isDistinct: true, id: .sample(3))
        try await sendAndChange(in: Conversation.ID(Replay.Key.sample(1)))
        try await sendAndChange(in: try await conversation([.ana, .cy]))
        try await changeViews()
        let gone = try await create(isDistinct: true, key: .sample(4)).object.conversation.id
        _ = try await store.withdrawContent(try await upload(5, to: gone).id)
        try await upload(4, to: gone)
        try await send(to: gone)
        try await store.deleteConversation(gone, in: application)
        try await mergeConversations()
        try await announceAndNotify()
        try await scheduleMessages()
        try await registerWebhooks()
        try await upload(6, to: nil, by: .ana)
        try await store.importRecords(
            [.record(.relations(ArchivedRelations(.bo, followed: [.named("gil")])))],
            in: application)
    }

    /// Two webhooks: one that stays, and one that is deleted.
    private func registerWebhooks() async throws {
        let (webhook, former) = try await (registerWebhook(), registerWebhook())
        for created in [webhook, former] {
            try await store.finishVerification(of: created, failure: nil, in: application)
            _ = try await store.rotateSecret(
                to: "n3w", keeping: 5000, of: created.id, in: application)
        }
        try await store.deleteWebhook(former.id, in: application)
    }

    /// Merges two distinct conversations of the same users.
    private func mergeConversations() async throws {
        let users: [UserID] = [.bo, .named("ed")]
        let own = try await create(users, isDistinct: true).object.conversation.id
        let other = try await addDistinctConversation(40, users, createdAt: 0)
        for conversation in [other, own, other] { try await send(by: .bo, to: conversation) }
        try await reconcile(other)
    }

    private func exportTwice() async throws {
        try await store.setExportKey(ExportKey(pem: "-----", der: [1]), in: application)
        _ = try await store.setExportSchedule(.daily, [.messageSent], in: application)
        let historical = try await store.requestExport(in: application).id
        wait(milliseconds: 86_400_000)
        try await store.requestDueExports()
        let archive = Export.Archive(
            size: 1, sha256: [1], crc32c: 2, encryptedKey: [3], initialVector: [4])
        for task in try await store.exportTasks() {
            _ = try await store.startExport(task.export.id, in: application)
            try await store.completeExport(task.export.id, archive, in: application)
        }
        try await store.deleteExport(historical, in: application)
        wait(milliseconds: Export.lifetime)
        try await store.expireExports()
        for task in try await store.exportTasks() {
            try await store.eraseExport(task.export.id, in: application)
        }
    }

    /// Changes of users to their own views.
    private func changeViews() async throws {
        let draft = try Conversation.Draft(participants: [.ana, .bo, .cy], isDistinct: true)
        let made = try await store.createConversation(draft, by: .ana, in: application).object.id
        _ = try await store.createConversation(draft, by: .cy, in: application)
        try await create([.ana, .bo, .cy], isDistinct: true)
        // Bo blocks both, so neither sees the messages of Bo.
        try await send("hidden", by: .bo, to: made)
        let message = try await send(by: .cy, to: made).object.message.id
        try await store.deleteMessage(message, forAll: false, by: .ana, in: application)
        try await store.deleteConversation(made, .forMe, by: .ana, in: application)
        try await send("again", by: .cy, to: made)
        try await store.deleteConversation(made, .leaving, by: .ana, in: application)
        try await patch(made, .addParticipant(.ana))
    }

    /// Identities and relations of users.
    private func changeUsers() async throws {
        _ = try await store.createIdentity(
            Identity(userID: .cy, displayName: "Cy", kind: .bot), in: application)
        var ana = Identity(userID: .ana, displayName: "Ana", metadata: ["b": "é", "a": ""])
        ana[.publicKey] = "key"
        _ = try await store.createIdentity(ana, in: application)
        try await store.patchIdentity(
            of: .ana, [.set(.firstName, ""), .deleteMetadataKey("b"), .setKind(.bot)],
            in: application)
        try await store.replaceIdentity(
            Identity(userID: .named("dee"), displayName: "Dee"), in: application)
        try await store.deleteIdentity(of: .named("dee"), in: application)
        try await store.follow([.bo, .ana, .named("fay")], by: .ana, in: application)
        try await store.unfollow(.named("fay"), by: .ana, in: application)
        try await store.setBadge(of: .bo, externalUnreadCount: 13, in: application)
        let provider = try await store.createProvider(name: "Login", in: application).id
        let key = try await store.createProviderKey(
            .edDSA, der: [1, 2], of: provider, in: application
        ).id
        _ = try await store.updateProviderKey(
            key, isDisabled: true, of: provider, in: application)
        try await store.deleteProviderKey(key, of: provider, in: application)
        try await store.deleteProvider(provider, in: application)
        let session = try await store.beginDevelopmentSession(
            of: .bo, displayName: "Bo", in: application
        ).session.id
        try await store.endSession(session, of: .bo, in: application)
        _ = try await store.beginDevelopmentSession(of: .cy, in: application)
        try await store.patchUser(.named("gus"), [.suspend(true)], in: application)
        try await store.endSessions(of: .bo, in: application)
        try await store.setSessionLifetime(3600, of: application)
    }

    private func sendAndChange(in conversation: Conversation.ID) async throws {
        for number in 1...4 {
            tick()
            try await send("\(number)", to: conversation)
        }
        try await patch(conversation, .addParticipant(.named("dee")), .removeParticipant(.ana))
        await #expect(throws: Rejection.self) { try await send("refused", to: conversation) }
        try await patch(
            conversation, .setMetadata(path: ["a", "x"], "y"), .deleteMetadata(path: ["a", "b"]))
        try await store.recordReceipts(
            .read, of: IntervalSet(2...9), by: .named("dee"), in: conversation, in: application)
        try await patch(conversation, .addParticipant(.ana))
        let content = try await upload(UInt128(tick().milliseconds), to: nil).id
        let message = try await attach(content, to: conversation).message.id
        try await send("kept", to: conversation, id: .sample(UInt128(tick().milliseconds)))
        try await store.recordReceipts(
            .delivery, of: IntervalSet(5...5), by: .named("dee"), in: conversation, in: application)
        try await store.recordReceipts(
            .read, of: IntervalSet(5...6), by: .named("dee"), in: conversation, in: application)
        try await store.deleteMessage(message, in: nil, in: application)
        try await changeParts(in: conversation)
    }

    /// Every kind of change, of parts that attach contents as well.
    private func changeParts(in conversation: Conversation.ID) async throws {
        let contents = try await [
            upload(UInt128(tick().milliseconds), to: nil).id,
            upload(UInt128(tick().milliseconds), to: conversation).id,
        ]
        let message = try await attach(contents[0], to: conversation).message
        let text = try MessagePart.Draft(mimeType: "a/b", body: .inline([1]))
        let picture = try MessagePart.Draft(mimeType: "a/b", body: .content(contents[1], size: 0))
        let operations: [PartOperation] = [
            .replace(.index(0), picture), .replace(.index(1), text),
            .replaceAll([.init(name: nil, draft: picture), .init(name: .index(1), draft: text)]),
            .remove(.index(2)),
        ]
        _ = try await store.addPart(
            picture, to: message.id, in: conversation, by: .system, in: application)
        for operation in operations {
            tick()
            try await store.changeParts(
                operation, of: message.id, in: conversation, by: .system, in: application)
        }
        await #expect(throws: Rejection.invalidOperation(.lastPart)) {
            try await store.changeParts(
                .remove(.index(1)), of: message.id, in: conversation, by: .system, in: application)
        }
    }
}
