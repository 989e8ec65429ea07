import Messaging
import TestSupport
import Testing

@testable import MessagingStore

// The random actions.
extension ModelLife {
    mutating func create() async throws {
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

    mutating func send() async throws {
        guard let index = talk() else { return }
        let talk = model.talks[index]
        let kind = dice.number(1...4)
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

    mutating func changeParticipants() async throws {
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

    mutating func setTopic() async throws {
        guard let index = talk() else { return }
        let (talk, actor, topic) = (model.talks[index], user(), "t\(dice.number(1...9))")
        let done = await expect(model.refusal(ofWriting: actor, in: talk)) {
            try await store.patchConversation(
                talk.id, [.setMetadata(path: ["topic"], .text(topic))], by: actor, in: application)
        }
        if done { model.talks[index].topic = topic }
    }

    mutating func deleteTalk() async throws {
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

    mutating func deleteMessage() async throws {
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

    mutating func readOne() async throws {
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

    mutating func readAll() async throws {
        guard let index = talk() else { return }
        let (talk, actor) = (model.talks[index], user())
        let limit: Int64? = dice.once(in: 2) ? nil : Int64(dice.number(0...Int(talk.last) + 2))
        let done = await expect(model.refusal(ofReading: actor, in: talk)) {
            let reached = try await store.markAllRead(
                upTo: limit.map(Position.init), by: actor, in: talk.id, in: application)
            let last = model.messages(in: talk, seenBy: actor).map(\.position)
                .last { place in place <= limit ?? .max }
            #expect(reached.place?.number == last, "seed \(seed)")
        }
        if done, limit ?? 1 > 0 { model.read(1...(limit ?? .max), of: index, by: actor) }
    }

    mutating func block() async throws {
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
}
