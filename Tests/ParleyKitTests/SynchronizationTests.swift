import Testing

@testable import ParleyKit

/// Clients with a real server.
@Suite struct SynchronizationTests {
    @Test func `messages sent offline arrive in order, once (K5, K29, K35)`() async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        let conversation = try await ana.newConversation(with: ["bo"])
        #expect(!conversation.isCreated)
        #expect(conversation.participants.map(\.id) == ["ana", "bo"])
        for text in ["one", "two", "three"] {
            try await ana.send([.text(text)], to: conversation.id)
        }
        #expect(try await ana.texts(in: conversation.id) == ["one", "two", "three"])
        #expect(
            try await ana.messages(in: conversation.id).map(\.delivery) == [
                .queued, .queued, .queued,
            ])
        await ana.close()
        server.kill()
        server.start()

        let again = try await openClient(server.configuration("ana"))
        #expect(try await again.texts(in: conversation.id) == ["one", "two", "three"])
        again.connect()
        let bo = try await server.client("bo")
        bo.connect()
        try await eventually("bo has three messages") {
            try await bo.texts(in: conversation.id) == ["one", "two", "three"]
        }
        try await eventually("ana's messages are sent and have positions") {
            try await again.messages(in: conversation.id).map(\.position) == [1, 2, 3]
        }
        #expect(try await again.messages(in: conversation.id).map(\.isSent) == [true, true, true])
        let shown = try #require(try await bo.conversation(conversation.id))
        #expect(shown.unreadCount == 3)
        #expect(shown.isDistinct)
        #expect(shown.lastMessage?.parts.first?.text == "three")
        try await eventually("the outbox is empty") {
            try await again.rowCount(of: "outbox") == 0
        }
        await again.close()
        await bo.close()
    }

    @Test func `receipts travel to the other side (K19, K55, K56, K57)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let message = try await ana.send([.text("Hello")], to: conversation)
        #expect(message.status(of: "bo") == .pending)
        #expect(message.status(of: "cy") == .invalid)
        try await ana.waitUntilSent(message.id)
        try await eventually("ana sees the delivery") {
            try await ana.message(message.id)?.status(of: "bo") == .delivered
        }
        let received = try #require(try await bo.message(message.id))
        #expect(received.isUnread)
        try await bo.markAsRead([message.id])
        #expect(try await bo.message(message.id)?.isUnread == false)
        #expect(try await bo.conversation(conversation)?.unreadCount == 0)
        try await eventually("ana sees that it was read") {
            try await ana.message(message.id)?.status(of: "bo") == .read
        }
        let tablet = try await server.client("bo", device: "tablet")
        tablet.connect()
        try await eventually("the other device of bo has it as read") {
            try await tablet.message(message.id)?.isUnread == false
        }
        #expect(try await tablet.conversation(conversation)?.unreadCount == 0)
        for client in [ana, bo, tablet] { await client.close() }
    }

    @Test func `metadata and participants show at once and travel (K17, K26, K50)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        let conversation = try await ana.newConversation(
            with: ["bo"], ConversationOptions(metadata: ["topic": "rent"])
        ).id
        try await ana.setMetadata("blue", at: "board.color", of: conversation)
        #expect(
            try await ana.conversation(conversation)?.metadata
                == ["topic": "rent", "board": ["color": "blue"]])
        try await ana.send([.text("Hello")], to: conversation)
        ana.connect()
        bo.connect()
        try await eventually("bo sees the metadata") {
            try await bo.conversation(conversation)?.metadata
                == ["topic": "rent", "board": ["color": "blue"]]
        }
        try await bo.add(["cy"], to: conversation)
        #expect(try await bo.conversation(conversation)?.isDistinct == false)
        try await bo.setMetadata(["size": "big"], merge: true, of: conversation)
        try await bo.deleteMetadata(at: ["topic"], of: conversation)
        try await eventually("ana sees what bo has changed") {
            let shown = try await ana.conversation(conversation)
            return shown?.metadata == ["size": "big", "board": ["color": "blue"]]
                && shown?.participants.map(\.id).sorted() == ["ana", "bo", "cy"]
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `a distinct conversation is made once, others as often as asked for (K21)`()
        async throws
    {
        let server = try KitServer()
        let ana = try await server.client("ana")
        let distinct = ConversationOptions(metadata: ["topic": "rent"])
        let first = try await ana.newConversation(with: ["bo", "ana"], distinct)
        #expect(first.isDistinct && first.participants.map(\.id) == ["ana", "bo"])
        #expect(try await ana.newConversation(with: ["bo"], distinct).id == first.id)
        #expect(try await ana.newConversation(with: ["bo"]).id == first.id)
        await #expect {
            _ = try await ana.newConversation(with: ["bo"], ConversationOptions(metadata: [:]))
        } throws: { error in
            (error as? ParleyError)?.code == .distinctExists
        }
        let own = ConversationOptions(isDistinct: false, metadata: ["topic": "garden"])
        let others = [
            try await ana.newConversation(with: ["bo"], own),
            try await ana.newConversation(with: ["bo"], own),
        ]
        let all = [first] + others
        #expect(Set(all.map(\.id)).count == 3 && others.allSatisfy { !$0.isDistinct })
        for conversation in all { try await ana.send([.text("x")], to: conversation.id) }
        let bo = try await server.client("bo")
        for client in [ana, bo] { client.connect() }
        try await eventually("bo sees all three as they were made") {
            let shown = try await bo.conversations()
            guard Set(shown.map(\.id)) == Set(all.map(\.id)) else { return false }
            return shown.allSatisfy { conversation in
                conversation.isDistinct == (conversation.id == first.id)
                    && conversation.metadata
                        == ["topic": conversation.id == first.id ? "rent" : "garden"]
            }
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `distinct conversations of two devices become one (K21, K23, K24)`() async throws {
        let server = try KitServer()
        let (phone, tablet) = (
            try await server.client("ana"), try await server.client("ana", device: "tablet")
        )
        let (first, second) = (
            try await phone.newConversation(with: ["bo"]).id,
            try await tablet.newConversation(with: ["bo"]).id
        )
        #expect(first != second)
        #expect(try await phone.newConversation(with: ["bo"]).id == first)
        try await phone.send([.text("phone")], to: first)
        try await tablet.send([.text("tablet")], to: second)
        phone.connect()
        try await eventually("the phone's message is sent") {
            try await phone.messages(in: first).allSatisfy(\.isSent)
        }
        tablet.connect()
        try await eventually("the tablet has one conversation with both messages") {
            let conversations = try await tablet.conversations()
            guard conversations.count == 1 else { return false }
            return try await tablet.texts(in: conversations[0].id).sorted() == ["phone", "tablet"]
                && conversations[0].id == first
        }
        #expect(try await tablet.conversation(second)?.id == first)
        #expect(try await tablet.conversation(first)?.formerIDs == [second])
        try await tablet.send([.text("by the former id")], to: second)
        try await eventually("the phone has all three") {
            try await phone.texts(in: first).count == 3
        }
        for client in [phone, tablet] { await client.close() }
    }

    @Test func `messages that wait for a creation go before later ones (K21, K30)`() async throws {
        let server = try KitServer()
        let bo = try await server.client("bo")
        bo.connect()
        let transport = HeldTransport(base: try openTransport(server.configuration("ana")))
        let ana = try await ParleyClient(server.configuration("ana"), transport)
        try await ana.authenticate()
        let own = try await ana.newConversation(with: ["bo"]).id
        try await ana.send([.text("1")], to: own)
        let theirs = try await bo.newConversation(with: ["ana"]).id
        try await bo.waitUntilSent(try await bo.send([.text("Hello")], to: theirs).id)
        transport.answers.close()
        ana.connect()
        try await eventually("the creation is on its way, and what bo has sent is here") {
            try await ana.texts(in: theirs).first == "Hello"
                && transport.count(of: "POST /conversations") > 0
        }
        let conversation = try await ana.newConversation(with: ["bo"]).id
        // The feed may already have said that both are one.
        #expect([own, theirs].contains(conversation))
        try await ana.send([.text("2")], to: conversation)
        transport.answers.open()
        try await eventually("bo has all, in order") {
            try await bo.texts(in: theirs) == ["Hello", "1", "2"]
        }
        #expect(try await ana.newConversation(with: ["bo"]).id == theirs)
        for client in [ana, bo] { await client.close() }
    }

    @Test func `deleting and leaving hide at once (K28)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let message = try await ana.send([.text("wrong")], to: conversation)
        try await ana.send([.text("right")], to: conversation)
        try await eventually("bo has both") { try await bo.texts(in: conversation).count == 2 }
        try await ana.delete(message.id, .allParticipants)
        #expect(try await ana.texts(in: conversation) == ["right"])
        try await eventually("bo has one") { try await bo.texts(in: conversation) == ["right"] }
        try await bo.leave(conversation)
        #expect(try await bo.conversation(conversation) == nil)
        try await eventually("ana is alone") {
            try await ana.conversation(conversation)?.participants.map(\.id) == ["ana"]
        }
        try await ana.delete(conversation, .allParticipants)
        #expect(try await ana.conversation(conversation) == nil)
        try await eventually("nothing is left") {
            try await ana.rowCount(of: "conversations", "messages", "outbox") == 0
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `refused sends are shown, and can be sent again or discarded (K27)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.waitUntilSent(try await ana.send([.text("Hello")], to: conversation).id)
        try await eventually("bo has it") { try await bo.texts(in: conversation).count == 1 }
        await bo.disconnect()
        let message = try await bo.send([.text("offline")], to: conversation)
        let later = try await bo.send([.text("later")], to: conversation)
        try await ana.remove(["bo"], from: conversation)
        try await eventually("bo was removed") {
            guard try await ana.rowCount(of: "outbox") == 0 else { return false }
            return try await ana.conversation(conversation)?.participants.count == 1
        }
        bo.connect()
        try await eventually("both have failed") {
            guard case .failed(let error)? = try await bo.message(message.id)?.delivery,
                case .failed? = try await bo.message(later.id)?.delivery
            else { return false }
            return error.code == .notAParticipant
        }
        await #expect(throws: ParleyError.self) {
            try await bo.send([.text("x")], to: conversation)
        }
        try await bo.discard(message.id)
        try await bo.discard(later.id)
        try await eventually("bo sees that it is no participant") {
            try await bo.conversation(conversation)?.isParticipant == false
        }
        #expect(try await bo.texts(in: conversation) == ["Hello"])
        for client in [ana, bo] { await client.close() }
    }
}
