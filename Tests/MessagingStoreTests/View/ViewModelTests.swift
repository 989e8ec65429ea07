import Messaging
import SQL
import TestSupport
import Testing

@testable import MessagingStore

/// Random lives of a few users in a few conversations, beside the plain model of what each sees.
@Suite struct `Views beside a model` {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func `lists, counts, messages and refusals agree, and the log makes the same rows (A, C, E, G)`(
        seed: UInt64
    ) async throws {
        var life = try await ModelLife(seed: seed)
        for step in 1...600 {
            try await life.step()
            try await life.compareOne(step)
            if step.isMultiple(of: 60) { try await life.compareAll(step) }
        }
        try await life.compareAll(600)
        try await life.replay()
    }
}

/// The store and the model, living the same life.
private struct ModelLife {
    let shop: Shop
    var model = ViewModel()
    var dice: Generator
    let seed: UInt64
    let users: [UserID] = ["ana", "bo", "cy", "dee", "ed"].map(UserID.named)

    init(seed: UInt64) async throws {
        self.seed = seed
        dice = Generator(seed)
        shop = try await Shop()
        for user in users {
            try await shop.store.replaceIdentity(Identity(userID: user), in: shop.application)
        }
    }

    private var store: MessagingStore { shop.store }
    private var application: Application.ID { shop.application }

    private mutating func user() -> UserID { users[dice.number(0...users.count - 1)] }

    /// Mostly a young conversation, so that some live long and many are met.
    private mutating func talk() -> Int? {
        model.talks.isEmpty
            ? nil : dice.number(max(0, model.talks.count - 6)...model.talks.count - 1)
    }

    private mutating func message(in index: Int) -> Int? {
        let sent = model.talks[index].sent
        return sent.isEmpty ? nil : dice.number(max(0, sent.count - 12)...sent.count - 1)
    }

    // MARK: - What happens

    mutating func step() async throws {
        if dice.once(in: 2) { shop.wait(milliseconds: Int64(dice.number(0...2))) }
        switch dice.number(1...100) {
        case 1...10: try await create()
        case 11...50: try await send()
        case 51...60: try await changeParticipants()
        case 61...64: try await setTopic()
        case 65...70: try await deleteTalk()
        case 71...78: try await deleteMessage()
        case 79...86: try await readOne()
        case 87...94: try await readAll()
        default: try await block()
        }
    }

    /// Does it, and holds what came of it against what must.
    private func expect(_ refusal: Rejection?, _ act: () async throws -> Void) async -> Bool {
        do {
            try await act()
            #expect(refusal == nil, "seed \(seed)")
        } catch let rejection as Rejection {
            #expect(rejection == refusal, "seed \(seed)")
        } catch {
            Issue.record(error)
        }
        return refusal == nil
    }

    private mutating func create() async throws {
        let creator: UserID? = dice.once(in: 3) ? nil : user()
        var named = dice.some(of: users)
        if named.isEmpty { named = [user()] }
        if let creator, !named.contains(creator) { named.insert(creator, at: 0) }
        let isDistinct = dice.once(in: 2)
        let isBlocked =
            creator.map { creator in
                named.contains { user in
                    user != creator && model.blocks[creator]?.contains(user) == true
                }
            } ?? false
        let draft = try Conversation.Draft(participants: named, isDistinct: isDistinct)
        var id: Conversation.ID?
        let done = await expect(isBlocked ? .participantBlocked : nil) {
            if let creator {
                id = try await store.createConversation(draft, by: creator, in: application)
                    .object.id
            } else {
                id = try await store.createConversation(draft, in: application).object
                    .conversation.id
            }
        }
        guard done, let id else { return }
        if isDistinct, let match = model.match(named) {
            #expect(model.talks[match].id == id)
            model.meet(match, by: creator)
        } else {
            model.create(
                id, named, isDistinct: isDistinct, by: creator, at: store.environment.now())
        }
    }

    private mutating func send() async throws {
        guard let index = talk() else { return }
        let talk = model.talks[index]
        let kind = dice.number(1...4)
        let sender: UserID? = kind == 1 ? nil : user()
        let parts = [try MessagePart.Draft(mimeType: "text/plain", body: .inline([0x61]))]
        var id: Message.ID?
        if kind <= 2 {
            // The system, in the name of a service or of whom it likes.
            let draft = try Message.Draft(
                sender: sender.map(Sender.user) ?? .named("Billing"), admission: .identities,
                parts: parts)
            guard
                await expect(
                    talk.isDeleted ? .objectDeleted : nil,
                    {
                        id = try await store.sendMessage(draft, to: talk.id, in: application)
                            .object.message.id
                    })
            else { return }
        } else {
            let author = sender ?? .ana
            let draft = try Message.Draft(sender: .user(author), parts: parts)
            guard
                await expect(
                    model.refusal(ofWriting: author, in: talk),
                    {
                        id = try await store.sendMessage(
                            draft, to: talk.id, by: author, in: application
                        ).object.message.id
                    })
            else { return }
        }
        guard let id else { return }
        model.send(id, to: index, by: sender, at: store.environment.now())
    }

    private mutating func changeParticipants() async throws {
        guard let index = talk() else { return }
        let talk = model.talks[index]
        let other = user()
        let isAdding = dice.once(in: 2)
        let patch: ConversationPatch = isAdding ? .addParticipant(other) : .removeParticipant(other)
        var after = Participants(talk.participants)
        if isAdding { after.add(other) } else { after.remove(other) }
        let done: Bool
        if dice.once(in: 2) {
            done = await expect(talk.isDeleted ? .objectDeleted : nil) {
                try await store.patchConversation(talk.id, [patch], in: application)
            }
        } else {
            let actor = user()
            let isBlocked =
                isAdding && actor != other && !talk.participants.contains(other)
                && model.blocks[actor]?.contains(other) == true
            let refusal = model.refusal(ofWriting: actor, in: talk)
            done = await expect(refusal ?? (isBlocked ? .participantBlocked : nil)) {
                try await store.patchConversation(talk.id, [patch], by: actor, in: application)
            }
        }
        if done { model.set(after.users, in: index) }
    }

    private mutating func setTopic() async throws {
        guard let index = talk() else { return }
        let (talk, actor, topic) = (model.talks[index], user(), "t\(dice.number(1...9))")
        let done = await expect(model.refusal(ofWriting: actor, in: talk)) {
            try await store.patchConversation(
                talk.id, [.setMetadata(path: ["topic"], .text(topic))], by: actor, in: application)
        }
        if done { model.talks[index].topic = topic }
    }

    private mutating func deleteTalk() async throws {
        guard let index = talk() else { return }
        let (talk, actor) = (model.talks[index], user())
        switch dice.number(1...8) {
        case 1:
            let done = await expect(model.refusal(ofWriting: actor, in: talk)) {
                try await store.deleteConversation(talk.id, .forAll, by: actor, in: application)
            }
            if done { model.talks[index].isDeleted = true }
        case 2...5:
            let done = await expect(model.refusal(ofReading: actor, in: talk)) {
                try await store.deleteConversation(talk.id, .forMe, by: actor, in: application)
            }
            guard done else { return }
            let last = talk.views[actor]?.removed ?? talk.last
            model.talks[index].views[actor]?.state = .cleared
            model.talks[index].views[actor]?.cleared = last
        default:
            let isFormer = talk.views[actor]?.removed != nil
            let refusal =
                isFormer
                ? model.refusal(ofReading: actor, in: talk)
                : model.refusal(ofWriting: actor, in: talk)
            let done = await expect(refusal) {
                try await store.deleteConversation(talk.id, .leaving, by: actor, in: application)
            }
            guard done else { return }
            model.set(talk.participants.filter { user in user != actor }, in: index)
            model.talks[index].views[actor]?.state = .left
        }
    }

    private mutating func deleteMessage() async throws {
        guard let index = talk(), let place = message(in: index) else { return }
        let (talk, actor, forAll) = (model.talks[index], user(), dice.once(in: 3))
        let sent = talk.sent[place]
        var refusal: Rejection? =
            model.isVisible(sent, to: actor, in: talk) ? nil : .notFound(.message)
        if refusal == nil, forAll { refusal = model.refusal(ofWriting: actor, in: talk) }
        let done = await expect(refusal) {
            try await store.deleteMessage(sent.id, forAll: forAll, by: actor, in: application)
        }
        guard done else { return }
        if forAll {
            model.talks[index].sent[place].isGone = true
        } else {
            model.talks[index].sent[place].hidden.insert(actor)
        }
    }

    private mutating func readOne() async throws {
        guard let index = talk(), let place = message(in: index) else { return }
        let (talk, actor) = (model.talks[index], user())
        let sent = talk.sent[place]
        let isVisible = model.isVisible(sent, to: actor, in: talk)
        let kind: Receipts.Kind = dice.once(in: 3) ? .delivery : .read
        let done = await expect(isVisible ? nil : .notFound(.message)) {
            try await store.recordReceipt(kind, of: sent.id, by: actor, in: application)
        }
        guard done, kind == .read else { return }
        model.read(sent.position...sent.position, of: index, by: actor)
    }

    private mutating func readAll() async throws {
        guard let index = talk() else { return }
        let (talk, actor) = (model.talks[index], user())
        let limit: Int64? = dice.once(in: 2) ? nil : Int64(dice.number(0...Int(talk.last) + 2))
        let done = await expect(model.refusal(ofReading: actor, in: talk)) {
            let reached = try await store.markAllRead(
                upTo: limit.map(Position.init), by: actor, in: talk.id, in: application)
            let last = model.messages(in: talk, seenBy: actor).map(\.position)
                .last { place in place <= limit ?? .max }
            #expect(reached?.number == last, "seed \(seed)")
        }
        if done, limit ?? 1 > 0 { model.read(1...(limit ?? .max), of: index, by: actor) }
    }

    private mutating func block() async throws {
        let (owner, other) = (user(), user())
        let isAdding = dice.once(in: 2)
        try await store.patchUser(
            owner, [isAdding ? .block(other) : .unblock(other)], in: application)
        if isAdding {
            model.blocks[owner, default: []].insert(other)
        } else {
            model.blocks[owner]?.remove(other)
        }
    }

    // MARK: - What is seen

    mutating func compareOne(_ step: Int) async throws {
        guard let index = talk() else { return }
        try await compare(model.talks[index], seenBy: user(), step)
    }

    func compareAll(_ step: Int) async throws {
        for user in users {
            for talk in model.talks { try await compare(talk, seenBy: user, step) }
            try await compareList(of: user, .createdAt, step) { talk in talk.createdAt }
            try await compareList(of: user, .lastMessage, step) { talk in
                model.messages(in: talk, seenBy: user).last?.at ?? talk.createdAt
            }
        }
    }

    private func compareList(
        of user: UserID, _ order: ConversationOrder, _ step: Int,
        _ time: (ViewModel.Talk) -> Timestamp
    ) async throws {
        let expected = model.list(of: user, time).map(\.id)
        var listed: [Conversation.ID] = []
        while true {
            let page = try await store.conversations(
                of: user, sortedBy: order, after: listed.last, limit: 7, in: application)
            #expect(page.total == Int64(expected.count), "seed \(seed), step \(step)")
            guard !page.items.isEmpty, listed.count <= expected.count else { break }
            listed += page.items.map(\.id)
        }
        #expect(listed == expected, "seed \(seed), step \(step), \(order)")
    }

    private func compare(
        _ talk: ViewModel.Talk, seenBy user: UserID, _ step: Int
    ) async throws {
        let place = Comment(rawValue: "seed \(seed), step \(step), \(user)")
        guard model.refusal(ofReading: user, in: talk) == nil, let own = talk.views[user] else {
            await #expect(throws: Rejection.notFound(.conversation), place) {
                try await store.conversation(talk.id, seenBy: user, in: application)
            }
            await #expect(throws: Rejection.notFound(.conversation), place) {
                try await store.messages(in: talk.id, seenBy: user, limit: 1, in: application)
            }
            return
        }
        let seen = model.messages(in: talk, seenBy: user)
        let unread = seen.filter { sent in model.isUnread(sent, to: user, in: talk) }
        let view = try await store.conversation(talk.id, seenBy: user, in: application)
        #expect(view.totalCount == Int64(seen.count), place)
        #expect(view.unreadCount == Int64(unread.count), place)
        #expect(view.lastMessage?.message.id == seen.last?.id, place)
        #expect(view.isDistinct == talk.isDistinct, place)
        #expect(
            view.participants.map(\.userID) == (own.removed == nil ? talk.participants : []), place)
        let topic = own.removed == nil ? talk.topic : own.frozenTopic
        #expect(view.metadata == (topic.isEmpty ? .empty : ["topic": .text(topic)]), place)
        let page = try await store.messages(
            in: talk.id, seenBy: user, limit: 1000, in: application)
        #expect(page.total == Int64(seen.count), place)
        #expect(page.items.map(\.message.id) == seen.reversed().map(\.id), place)
        #expect(
            page.items.filter { item in item.isUnread == true }.map(\.message.id)
                == unread.reversed().map(\.id), place)
        for (item, sent) in zip(page.items, seen.reversed()) {
            let readers = item.recipients.filter { entry in entry.status == .read }.map(\.userID)
            let author = [sent.sender].compactMap(\.self)
            #expect(Set(readers) == sent.readers.union(author).intersection(sent.reached), place)
            #expect(Set(item.recipients.map(\.userID)) == sent.reached, place)
        }
        for sent in talk.sent where !model.isVisible(sent, to: user, in: talk) {
            await #expect(throws: Rejection.notFound(.message), place) {
                try await store.message(sent.id, seenBy: user, in: application)
            }
        }
    }

    // MARK: - The log

    func replay() async throws {
        try await shop.expectSameRowsAgain("seed \(seed)")
    }
}
