import Messaging
import TestSupport
import Testing

@testable import MessagingStore

// The random actions.
extension ModelRun {
    mutating func create() async throws {
        let creator: UserID? = random.once(in: 3) ? nil : user()
        var named = random.some(of: users)
        if named.isEmpty { named = [user()] }
        if let creator, !named.contains(creator) { named.insert(creator, at: 0) }
        let isDistinct = random.once(in: 2)
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
            #expect(model.conversations[match].id == id)
            model.markMatched(match, by: creator)
        } else {
            model.create(
                id, named, isDistinct: isDistinct, by: creator, at: store.environment.now())
        }
    }

    mutating func send() async throws {
        guard let index = conversationIndex() else { return }
        let conversation = model.conversations[index]
        let kind = random.number(1...4)
        let sender: UserID? = kind == 1 ? nil : user()
        let parts = [try MessagePart.Draft(mimeType: "text/plain", body: .inline([0x61]))]
        var id: Message.ID?
        if kind <= 2 {
            // The system, as a service or as any user.
            let draft = try Message.Draft(
                sender: sender.map(Sender.user) ?? .named("Billing"), admission: .identities,
                parts: parts)
            guard
                await expect(
                    conversation.isDeleted ? .objectDeleted : nil,
                    {
                        id = try await store.sendMessage(
                            draft, to: conversation.id, in: application
                        )
                        .object.message.id
                    })
            else { return }
        } else {
            let author = sender ?? .ana
            let draft = try Message.Draft(sender: .user(author), parts: parts)
            guard
                await expect(
                    model.refusal(ofWriting: author, in: conversation),
                    {
                        id = try await store.sendMessage(
                            draft, to: conversation.id, by: .user(author), in: application
                        ).object.message.id
                    })
            else { return }
        }
        guard let id else { return }
        model.send(id, to: index, by: sender, at: store.environment.now())
    }

    mutating func changeParticipants() async throws {
        guard let index = conversationIndex() else { return }
        let conversation = model.conversations[index]
        let other = user()
        let isAdding = random.once(in: 2)
        let patch: ConversationPatch = isAdding ? .addParticipant(other) : .removeParticipant(other)
        var after = Participants(conversation.participants)
        if isAdding { after.add(other) } else { after.remove(other) }
        let done: Bool
        if random.once(in: 2) {
            done = await expect(conversation.isDeleted ? .objectDeleted : nil) {
                try await store.patchConversation(conversation.id, [patch], in: application)
            }
        } else {
            let actor = user()
            let isBlocked =
                isAdding && actor != other && !conversation.participants.contains(other)
                && model.blocks[actor]?.contains(other) == true
            let refusal = model.refusal(ofWriting: actor, in: conversation)
            done = await expect(refusal ?? (isBlocked ? .participantBlocked : nil)) {
                try await store.patchConversation(
                    conversation.id, [patch], by: actor, in: application)
            }
        }
        if done { model.set(after.users, in: index) }
    }

    mutating func setTopic() async throws {
        guard let index = conversationIndex() else { return }
        let (conversation, actor, topic) = (
            model.conversations[index], user(), "t\(random.number(1...9))"
        )
        let done = await expect(model.refusal(ofWriting: actor, in: conversation)) {
            try await store.patchConversation(
                conversation.id, [.setMetadata(path: ["topic"], .text(topic))], by: actor,
                in: application)
        }
        if done { model.conversations[index].topic = topic }
    }

    mutating func deleteConversation() async throws {
        guard let index = conversationIndex() else { return }
        let (conversation, actor) = (model.conversations[index], user())
        switch random.number(1...8) {
        case 1:
            let done = await expect(model.refusal(ofWriting: actor, in: conversation)) {
                try await store.deleteConversation(
                    conversation.id, .forAll, by: actor, in: application)
            }
            if done { model.conversations[index].isDeleted = true }
        case 2...5:
            let done = await expect(model.refusal(ofReading: actor, in: conversation)) {
                try await store.deleteConversation(
                    conversation.id, .forMe, by: actor, in: application)
            }
            guard done else { return }
            let last = conversation.views[actor]?.removed ?? conversation.last
            model.conversations[index].views[actor]?.state = .cleared
            model.conversations[index].views[actor]?.cleared = last
        default:
            let isFormer = conversation.views[actor]?.removed != nil
            let refusal =
                isFormer
                ? model.refusal(ofReading: actor, in: conversation)
                : model.refusal(ofWriting: actor, in: conversation)
            let done = await expect(refusal) {
                try await store.deleteConversation(
                    conversation.id, .leaving, by: actor, in: application)
            }
            guard done else { return }
            model.set(conversation.participants.filter { user in user != actor }, in: index)
            model.conversations[index].views[actor]?.state = .left
        }
    }

    mutating func deleteMessage() async throws {
        guard let index = conversationIndex(), let messageIndex = message(in: index) else { return }
        let (conversation, actor, forAll) = (model.conversations[index], user(), random.once(in: 3))
        let sent = conversation.sent[messageIndex]
        var refusal: Rejection? =
            model.isVisible(sent, to: actor, in: conversation) ? nil : .notFound(.message)
        if refusal == nil, forAll { refusal = model.refusal(ofWriting: actor, in: conversation) }
        let done = await expect(refusal) {
            try await store.deleteMessage(sent.id, forAll: forAll, by: actor, in: application)
        }
        guard done else { return }
        if forAll {
            model.conversations[index].sent[messageIndex].isGone = true
        } else {
            model.conversations[index].sent[messageIndex].hidden.insert(actor)
        }
    }

    mutating func readOne() async throws {
        guard let index = conversationIndex(), let messageIndex = message(in: index) else { return }
        let (conversation, actor) = (model.conversations[index], user())
        let sent = conversation.sent[messageIndex]
        let isVisible = model.isVisible(sent, to: actor, in: conversation)
        let kind: Receipts.Kind = random.once(in: 3) ? .delivery : .read
        let done = await expect(isVisible ? nil : .notFound(.message)) {
            try await store.recordReceipt(kind, of: sent.id, by: actor, in: application)
        }
        guard done, kind == .read else { return }
        model.read(sent.position...sent.position, of: index, by: actor)
    }

    mutating func readAll() async throws {
        guard let index = conversationIndex() else { return }
        let (conversation, actor) = (model.conversations[index], user())
        let limit: Int64? =
            random.once(in: 2) ? nil : Int64(random.number(0...Int(conversation.last) + 2))
        let done = await expect(model.refusal(ofReading: actor, in: conversation)) {
            let reached = try await store.markAllRead(
                upTo: limit.map(Position.init), by: actor, in: conversation.id, in: application)
            let last = model.messages(in: conversation, seenBy: actor).map(\.position)
                .last { position in position <= limit ?? .max }
            #expect(reached.lastRead?.number == last, "seed \(seed)")
        }
        if done, limit ?? 1 > 0 { model.read(1...(limit ?? .max), of: index, by: actor) }
    }

    mutating func follow() async throws {
        let (follower, other) = (user(), user())
        if random.once(in: 3) {
            try await store.follow([other], by: follower, in: application)
        } else {
            try await store.unfollow(other, by: follower, in: application)
        }
    }

    mutating func block() async throws {
        let (owner, other) = (user(), user())
        let isAdding = random.once(in: 2)
        try await store.patchUser(
            owner, [isAdding ? .block(other) : .unblock(other)], in: application)
        if isAdding {
            model.blocks[owner, default: []].insert(other)
        } else {
            model.blocks[owner]?.remove(other)
        }
    }
}
