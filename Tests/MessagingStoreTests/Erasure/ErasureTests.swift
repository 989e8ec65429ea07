import Bytes
import Messaging
import SQL
import SystemSupport
import TestSupport
import Testing

@testable import MessagingStore

/// Users that are erased with a proof (X16).
@Suite struct `The erasure of a user` {
    /// A name that no other row has by chance.
    private static let erika = UserID.named("erika-mustermann-77")
    private static let noBytes = SHA256.digest(of: [])

    @Test(arguments: [100, 2]) func `leaves no row with the id or the names of the user`(
        wide: Int
    ) async throws {
        let sample = try await SampleApplication(limits: Self.limits(wide: wide))
        let ids = try await sample.fill(with: Self.erika)
        let erasure = try await sample.erase(Self.erika)
        #expect(erasure.state == .completed)
        #expect(erasure.error == nil)
        #expect(erasure.digest == Self.noBytes)
        #expect(erasure.counts.allSatisfy { count in count.remaining == 0 })
        #expect(
            erasure.counts.map(\.table)
                == ["uploads"] + ErasureTable.allCases.map(\.rawValue))
        let untouched = erasure.counts.filter { count in count.erased == 0 }.map(\.table)
        // Sessions end with the request, and receipts are renamed with the participant.
        let others = ["uploads", "sessions", "devices", "receipts"]
        #expect(untouched == others + (wide == 2 ? [] : ["wide_stays", "unfollowed"]))
        try await sample.expectNoRow(with: Self.erika.text)
        try await sample.expectNoRow(with: "Erika M.")
        try await sample.expectNoRow(with: "erika says")
        #expect(try await sample.dropped().contains(ids.content))
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.store.user(Self.erika, in: sample.application)
        }
    }

    @Test func `of a user in every kind of event is proved, and all events can be read`()
        async throws
    {
        let sample = try await SampleApplication()
        try await sample.recordEveryKindOfEvent()
        let before = try await sample.events()
        let erasure = try await sample.erase(.ana)
        #expect(erasure.state == .completed)
        #expect(erasure.error == nil)
        let after = try await sample.events()
        #expect(
            after.prefix(before.count).map(\.position) == before.map(\.position))
        #expect(after.prefix(before.count).map(\.event.type) == before.map(\.event.type))
        for recorded in after {
            #expect(recorded.actor != .user(.ana))
            #expect(!recorded.event.payload.namedUsers.contains(.ana))
        }
        var (read, position) = (0, LogPosition.start)
        while true {
            let page = try await sample.store.eventPage(
                EventLogQuery(.ascending(after: position), limit: 1000), in: sample.application)
            guard !page.events.isEmpty else { break }
            read += page.events.count
            position = page.through
        }
        #expect(read == after.count)
    }

    @Test(arguments: [100, 2]) func `keeps the lists, counts and feeds of others`(
        wide: Int
    ) async throws {
        let sample = try await SampleApplication(limits: Self.limits(wide: wide))
        let ids = try await sample.fill(with: Self.erika)
        let before = try await sample.seen(by: .bo)
        var device = try await sample.freshDevice(of: .bo)
        let erasure = try await sample.erase(Self.erika)
        let after = try await sample.seen(by: .bo)
        #expect(after == before)
        for conversation in ids.conversations {
            let page = try await sample.store.messages(
                in: conversation, seenBy: .user(.bo), limit: 100, in: sample.application)
            for item in page.items where item.message.sender == .user(erasure.erasedUser) {
                #expect(item.message.parts == [])
                #expect(item.sender?.displayName == nil)
            }
            #expect(
                page.items.contains { $0.message.sender == .user(erasure.erasedUser) })
            let snapshot = try await sample.read(conversation)
            #expect(!snapshot.conversation.participants.contains(Self.erika))
            #expect(!snapshot.conversation.participants.contains(erasure.erasedUser))
        }
        device.apply(try await sample.feed(of: .bo, after: device.cursor))
        let fresh = try await sample.freshDevice(of: .bo)
        for (id, message) in fresh.messages {
            #expect(device.messages[id]?.message == message.message)
        }
        try await sample.expectWhole(fresh, "after the erasure")
        #expect(
            device.conversations.mapValues(\.view.participants)
                == fresh.conversations.mapValues(\.view.participants))
    }

    @Test func `continues after an interruption between any two steps`() async throws {
        let sample = try await SampleApplication()
        try await sample.fill(with: Self.erika)
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        var runs = 0
        while try await sample.isRunning(requested.id), runs < 200 {
            runs += 1
            // A new store, as after a crash: all it knows is in the database.
            let interruption = Interruption(after: runs)
            let store = MessagingStore(
                database: sample.database,
                environment: StoreEnvironment(
                    now: {
                        interruption.step()
                        return sample.store.environment.now()
                    }, randomBytes: StoreEnvironment.live.randomBytes,
                    sha256: StoreEnvironment.live.sha256))
            let task = Task {
                try await store.runErasure(
                    requested.id, in: sample.application, bodies: .sample, uploads: .none)
            }
            interruption.watch(task)
            do {
                try await task.value
            } catch is CancellationError {
                continue
            }
        }
        #expect(runs > 5 && runs < 200)
        let erasure = try await sample.store.erasure(requested.id, in: sample.application)
        #expect(erasure.state == .completed)
        #expect(erasure.digest == Self.noBytes)
        try await sample.expectNoRow(with: Self.erika.text)
        // The proof has continued: no row was scanned twice, and none was left out.
        let events = erasure.counts.first { count in count.table == "events" }
        #expect(try await events?.scanned == Int64(sample.events().count))
    }

    @Test func `is proved while others write, and refuses writes that introduce the user`()
        async throws
    {
        let sample = try await SampleApplication()
        let ids = try await sample.fill(with: Self.erika)
        let conversation = try #require(ids.conversations.first)
        let requested = try await sample.store.eraseUser(Self.erika, in: sample.application)
        let refused = Rejection.userErased(Self.erika)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 1...100 {
                    try await sample.send("\(number)", by: .bo, to: conversation)
                    _ = try await sample.store.markAllRead(
                        upTo: nil, by: .cy, in: conversation, in: sample.application)
                }
            }
            group.addTask {
                while try await sample.isRunning(requested.id) {
                    try await sample.store.runErasure(
                        requested.id, in: sample.application, bodies: .sample, uploads: .none)
                }
            }
            group.addTask {
                while try await sample.isRunning(requested.id) {
                    do {
                        try await sample.conversation([.bo, Self.erika])
                        // It has ended meanwhile: this is a new user.
                        return
                    } catch let error as Rejection {
                        #expect(error == refused)
                    }
                }
            }
            try await group.waitForAll()
        }
        let erasure = try await sample.store.erasure(requested.id, in: sample.application)
        #expect(erasure.state == .completed)
        #expect(erasure.round == 1)
    }

    @Test func `refuses messages, sessions, follows and imports of the user while it runs`()
        async throws
    {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        try await sample.conversation([.cy])
        _ = try await sample.store.eraseUser(Self.erika, in: sample.application)
        let refused = Rejection.userErased(Self.erika)
        await #expect(throws: refused) { try await sample.send(by: Self.erika, to: id) }
        await #expect(throws: refused) { try await sample.announce(to: [Self.erika]) }
        await #expect(throws: refused) { try await sample.notify([Self.erika]) }
        await #expect(throws: refused) { try await sample.patch(.bo, .block(Self.erika)) }
        await #expect(throws: refused) {
            try await sample.store.follow([Self.erika], by: .cy, in: sample.application)
        }
        await #expect(throws: refused) {
            try await sample.store.patchUser(Self.erika, [.suspend(true)], in: sample.application)
        }
        await #expect(throws: refused) {
            try await sample.store.importRecords(
                [.record(.relations(ArchivedRelations(.cy, followed: [Self.erika])))],
                in: sample.application)
        }
        try await sample.send(by: .bo, to: id)
    }

    @Test func `answers a repeated request with the same erasure until the user exists again`()
        async throws
    {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        try await sample.send(by: Self.erika, to: id)
        func request() async throws -> Erasure {
            try await sample.store.eraseUser(Self.erika, in: sample.application)
        }
        let first = try await request()
        #expect(try await request() == first)
        let done = try await sample.erase(Self.erika)
        #expect(done.id == first.id)
        #expect(try await request() == done)
        try await sample.conversation([Self.erika, .bo])
        let second = try await sample.erase(Self.erika)
        #expect(second.id != first.id)
        #expect(second.erasedUser == .erased(2))
        await #expect(throws: Rejection.notFound(.user)) {
            try await sample.store.eraseUser(.named("unknown"), in: sample.application)
        }
        await #expect(throws: Rejection.notFound(.erasure)) {
            try await sample.store.erasure(.sample(9), in: sample.application)
        }
    }

    @Test func `reserves the name of the erased user`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        let message = try await sample.send(by: Self.erika, to: id).object.message
        let erased = try await sample.erase(Self.erika).erasedUser
        let refused = Rejection.userErased(erased)
        await #expect(throws: refused) {
            try await sample.store.eraseUser(erased, in: sample.application)
        }
        await #expect(throws: refused) { try await sample.conversation([erased, .bo]) }
        await #expect(throws: Rejection.userErased(.erased(77))) {
            try await sample.conversation([.erased(77), .bo])
        }
        await #expect(throws: refused) {
            let part = try MessagePart.Draft(mimeType: "text/plain", body: .inline([1]))
            _ = try await sample.store.addPart(
                part, to: message.id, in: id, by: .system, in: sample.application)
        }
        #expect(UserID.erased(12).isErased)
        for name in ["erased-", "erased-x", "erased-1x", "Erased-1", "erased"] {
            #expect(!UserID.named(name).isErased)
        }
    }

    @Test func `of one of two users names the other one as before`() async throws {
        let sample = try await SampleApplication()
        let other = UserID.named("\(Self.erika.text)8")
        let id = try await sample.conversation([Self.erika, other, .bo])
        try await sample.send("mine", by: other, to: id)
        try await sample.send(by: Self.erika, to: id)
        _ = try await sample.erase(Self.erika)
        #expect(try await sample.texts(of: id) == ["", "mine"])
        #expect(try await sample.read(id).conversation.participants.users == [other, .bo])
    }

    @Test func `is exported and imported`() async throws {
        let sample = try await SampleApplication()
        let id = try await sample.conversation([Self.erika, .bo])
        try await sample.send(by: Self.erika, to: id)
        try await sample.send(by: .bo, to: id)
        let erased = try await sample.erase(Self.erika).erasedUser
        let lines = try await sample.exportedLines()
        let copy = try await SampleApplication(opening: sample.application, isEmpty: true)
        try await copy.importLines(lines)
        #expect(try await copy.exportedLines() == lines)
        let senders = try await copy.store.messages(in: id, limit: 10, in: copy.application)
            .items.map(\.message.sender)
        #expect(senders == [.user(.bo), .user(erased)])
        // The next name is free in the copy, too.
        #expect(try await copy.erase(.bo).erasedUser == .erased(2))
    }

    private static func limits(wide: Int) -> MessagingLimits {
        var limits = MessagingLimits()
        limits.wideConversation = wide
        return limits
    }
}

/// Cancels a task at one of its steps.
private final class Interruption: Sendable {
    private let remaining: Locked<Int>
    private let task = Locked<Task<Void, any Error>?>(nil)

    init(after steps: Int) { remaining = Locked(steps) }

    func watch(_ task: Task<Void, any Error>) {
        self.task.withLock { known in known = task }
        if remaining.withLock({ remaining in remaining < 0 }) { task.cancel() }
    }

    func step() {
        let hasEnded = remaining.withLock { remaining in
            remaining -= 1
            return remaining < 0
        }
        if hasEnded { task.withLock { task in task?.cancel() } }
    }
}

extension ErasureUploads {
    /// No uploads.
    static let none = ErasureUploads(
        remove: { _, _ in 0 }, count: { _, _ in (all: 0, named: 0) })
}

extension ErasureBodies {
    /// Bodies that name a user when they contain the id.
    static let sample = ErasureBodies(
        namesUser: contains, namesUserInText: contains, delivery: { _ in Array("{}".utf8) })

    @Sendable private static func contains(_ bytes: [UInt8], _ user: UserID) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains("\"\(user.text)\"")
    }
}

extension SampleApplication {
    func isRunning(_ id: Erasure.ID) async throws -> Bool {
        try await store.erasure(id, in: application).state == .running
    }

    /// Requests an erasure and works on it to its end.
    func erase(_ user: UserID) async throws -> Erasure {
        let requested = try await store.eraseUser(user, in: application)
        while try await isRunning(requested.id) {
            try await store.runErasure(
                requested.id, in: application, bodies: .sample, uploads: .none)
        }
        return try await store.erasure(requested.id, in: application)
    }

    /// Makes rows in all tables that can name a user.
    ///
    /// - Returns: Two conversations of the user, and a content of one of the user's messages.
    @discardableResult
    fileprivate func fill(
        with user: UserID
    ) async throws -> (conversations: [Conversation.ID], content: Content.ID) {
        var identity = Identity(userID: user)
        identity[.displayName] = "Erika M."
        _ = try await store.createIdentity(identity, in: application)
        let group = try await conversation(
            [.bo, user, .cy, .named("gus")], metadata: ["topic": "lunch"])
        let pair = try await create([user, .bo], isDistinct: true).object.conversation.id
        let gone = try await conversation([user, .cy])
        try await send("erika says deleted", by: user, to: gone)
        for conversation in [group, pair] {
            try await send("erika says one", by: user, to: conversation)
            try await send("two", by: .bo, to: conversation)
            let edited = try await send("erika says three", by: user, to: conversation).object
            _ = try await store.changeParts(
                .replace(
                    .index(0),
                    try MessagePart.Draft(
                        mimeType: "text/plain", body: .inline(Array("erika says four".utf8)))),
                of: edited.message.id, in: conversation, by: .user(user), in: application)
            let deleted = try await send("erika says five", by: user, to: conversation).object
            try await store.deleteMessage(deleted.message.id, in: conversation, in: application)
            _ = try await store.markAllRead(upTo: nil, by: .bo, in: conversation, in: application)
            _ = try await store.markAllRead(upTo: nil, by: user, in: conversation, in: application)
            let hidden = try await send("six", by: .bo, to: conversation).object
            try await store.deleteMessage(
                hidden.message.id, forAll: false, by: user, in: application)
        }
        let content = try await upload(71, to: nil, by: user).id
        _ = try await store.sendMessage(
            Message.Draft(
                sender: .user(user),
                parts: [MessagePart.Draft(mimeType: "image/png", body: .content(content, size: 5))]),
            to: group, in: application)
        try await upload(72, to: nil, by: user)
        try await store.deleteConversation(gone, in: application)
        try await patch(user, .block(.named("dora")))
        try await patch(.named("dora"), .block(user))
        try await patch(user, .unblock(.named("dora")))
        try await patch(.named("emil"), .block(user))
        try await store.follow([.named("fritz")], by: user, in: application)
        try await store.follow([user], by: .named("fritz"), in: application)
        try await unfollow(.bo, by: user)
        try await store.setBadge(of: user, externalUnreadCount: 3, in: application)
        try await announce("erika says hello", by: .user(user), to: [.bo])
        try await announce(to: [user, .bo])
        try await notify([user, .bo])
        try await schedule("erika says later", by: .user(user), in: 300, to: group)
        _ = try await store.beginDevelopmentSession(
            of: user, displayName: nil, userAgent: "Erika M.", in: application)
        let key = try #require(IdempotencyKey("key"))
        for owner in [user, nil] {
            _ = try await store.doOnce(key, of: owner, describedBy: [[1]], in: application) { _ in
                StoredResponse(
                    status: 201, fields: [], body: Array("{\"id\":\"\(user.text)\"}".utf8))
            }
        }
        try await deliver("{\"user_id\":\"\(user.text)\"}")
        return ([group, pair], content)
    }

    /// Stores a webhook delivery.
    func deliver(_ body: String) async throws {
        let webhook = try await registerWebhook()
        try await store.finishVerification(of: webhook, failure: nil, in: application)
        let start = try await store.webhookCheckpoint(in: application)
        let subscriptions = try await store.webhookSubscriptions(in: application)
        let isStored = try await store.enqueue(
            [
                DeliveryDraft(
                    webhook: webhook.id, event: EventID(Message.ID.sample(5)),
                    type: "message.sent", position: nil, conversation: nil,
                    body: Array(body.utf8))
            ], from: start, to: WebhookCheckpoint(after: try await end()), for: subscriptions,
            in: application)
        #expect(isStored)
    }

    /// Expects that a text is in no row, in texts and in bytes.
    func expectNoRow(with text: String) async throws {
        let bytes = hexadecimal(Array(text.utf8))
        for row in try await rows() where row.contains(text) || row.contains(bytes) {
            Issue.record("\(text) is in \(row)")
        }
    }

    /// What a user sees of conversations that an erasure must not change.
    fileprivate func seen(by user: UserID) async throws -> [String] {
        try await store.conversations(of: user, limit: 100, in: application).items
            .asyncFlatMap { view in
                let page = try await self.store.messages(
                    in: view.id, seenBy: .user(user), limit: 100, in: self.application)
                return [
                    "\(view.id) \(view.totalCount) \(view.unreadCount) \(page.total ?? -1)",
                    "\(view.lastMessage?.message.id.uuid ?? "-")",
                ]
                    + page.items.map { item in
                        "\(item.message.id) \(item.message.position) \(item.isUnread ?? false) "
                            + "\(item.recipients.count) "
                            + "\(item.recipients.map(\.status.rawValue).sorted())"
                    }
            }
    }
}

extension Array {
    fileprivate func asyncFlatMap<Value>(
        _ transform: (Element) async throws -> [Value]
    ) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values += try await transform(element) }
        return values
    }
}
