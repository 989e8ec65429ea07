import HTTP
import SystemSupport
import Testing

@testable import ParleyKit

/// Commands that the server refuses for good.
@Suite(.timeLimit(.minutes(10))) struct RefusalTests {
    /// Two users with a conversation; what one of them sends passes a transport that refuses.
    private struct Fixture {
        let server: KitServer
        let transport: RefusingTransport
        let ana: ParleyClient
        let bo: ParleyClient
        let conversation: Conversation.ID

        init() async throws {
            server = try KitServer()
            let configuration = server.configuration("ana")
            transport = RefusingTransport(base: try openTransport(configuration))
            ana = try await ParleyClient(configuration, transport)
            bo = try await server.client("bo")
            try await ana.authenticate()
            ana.connect()
            bo.connect()
            conversation = try await ana.newConversation(with: ["bo"]).id
            let first = try await ana.send([.text("first")], to: conversation)
            try await ana.waitUntilSent(first.id)
            let sender = ana
            try await eventually("nothing waits") { try await sender.rowCount(of: "outbox") == 0 }
        }

        func close() async { for client in [ana, bo] { await client.close() } }
    }

    private func isFailed(_ message: Message.ID, _ client: ParleyClient) async throws -> Bool {
        if case .failed(let error)? = try await client.message(message)?.delivery {
            return error.server?.status == 422
        }
        return false
    }

    @Test func `a refused message holds up later ones until it is sent again or discarded (K33)`()
        async throws
    {
        let fixture = try await Fixture()
        let (ana, bo, conversation) = (fixture.ana, fixture.bo, fixture.conversation)
        var failures = ana.failures.makeAsyncIterator()
        var texts = ["first"]
        for isRetried in [true, false] {
            fixture.transport.refusal.withLock { $0 = (.post, "/messages", "invalid_property") }
            let refused = try await ana.send([.text("refused \(isRetried)")], to: conversation)
            let later = [
                try await ana.send([.text("second \(isRetried)")], to: conversation),
                try await ana.send([.text("third \(isRetried)")], to: conversation),
            ]
            // Other commands of the conversation go on.
            try await ana.setMetadata(.text("\(isRetried)"), at: "isRetried", of: conversation)
            #expect(await failures.next()?.object == .message(refused.id))
            await #expect(throws: ParleyError.self) { try await ana.waitUntilSent(refused.id) }
            #expect(try await isFailed(refused.id, ana))
            fixture.transport.refusal.withLock { $0 = nil }
            ana.kick()
            try await eventually("the metadata are there") {
                try await bo.conversation(conversation)?.metadata["isRetried"]?.text
                    == "\(isRetried)"
            }
            for message in later {
                #expect(
                    try await ana.message(message.id)?.delivery == .blocked(by: refused.id))
            }
            #expect(try await ana.texts(in: conversation).suffix(3).first == "refused \(isRetried)")
            if isRetried {
                try await ana.retry(refused.id)
                texts.append("refused \(isRetried)")
            } else {
                try await ana.discard(refused.id)
            }
            for message in later { try await ana.waitUntilSent(message.id) }
            texts += ["second \(isRetried)", "third \(isRetried)"]
            let expected = texts
            for client in [ana, bo] {
                try await eventually("all are there in order") {
                    try await client.texts(in: conversation) == expected
                }
            }
        }
        await fixture.close()
    }

    @Test
    func `a message that was never sent is deleted at once, and holds up no other (K33, K34)`()
        async throws
    {
        let fixture = try await Fixture()
        let (ana, bo, conversation) = (fixture.ana, fixture.bo, fixture.conversation)
        fixture.transport.refusal.withLock { $0 = (.post, "/messages", "invalid_property") }
        let refused = try await ana.send([.text("refused")], to: conversation)
        let blocked = try await ana.send([.text("blocked")], to: conversation)
        try await eventually("one is refused") { try await isFailed(refused.id, ana) }
        try await ana.delete(blocked.id, .myDevices)
        try await ana.delete(refused.id, .allParticipants)
        #expect(try await ana.rowCount(of: "outbox") == 0)
        fixture.transport.refusal.withLock { $0 = nil }
        try await ana.waitUntilSent(try await ana.send([.text("last")], to: conversation).id)
        for client in [ana, bo] {
            try await eventually("only the others are there") {
                try await client.texts(in: conversation) == ["first", "last"]
            }
        }
        await fixture.close()
    }

    @Test func `a refused creation is sent again with the next command, or deleted (K33)`()
        async throws
    {
        let fixture = try await Fixture()
        let ana = fixture.ana
        for isDeleted in [false, true] {
            fixture.transport.refusal.withLock {
                $0 = (.post, "/conversations", "participant_blocked")
            }
            let conversation = try await ana.newConversation(with: ["cy"]).id
            let refused = try await ana.send([.text("refused")], to: conversation)
            try await eventually("it is refused") { try await isFailed(refused.id, ana) }
            if isDeleted {
                try await ana.delete(conversation, .allParticipants)
                #expect(try await ana.conversation(conversation) == nil)
                #expect(try await ana.rowCount(of: "outbox") == 0)
            } else {
                try await ana.discard(refused.id)
            }
            fixture.transport.refusal.withLock { $0 = nil }
            let again = try await ana.newConversation(with: ["cy"]).id
            #expect((again == conversation) != isDeleted)
            try await ana.waitUntilSent(try await ana.send([.text("sent")], to: again).id)
            #expect(try await ana.texts(in: again) == ["sent"])
            try await ana.delete(again, .allParticipants)
            try await eventually("nothing waits") { try await ana.rowCount(of: "outbox") == 0 }
        }
        await fixture.close()
    }

    @Test func `a refused change is undone and reported (K26, K33)`() async throws {
        let fixture = try await Fixture()
        let (ana, conversation) = (fixture.ana, fixture.conversation)
        let before = try #require(try await ana.conversation(conversation))
        var failures = ana.failures.makeAsyncIterator()
        for (error, code) in [
            ("participant_blocked", ParleyError.Code.participantBlocked),
            ("invalid_property", .server),
        ] {
            await ana.disconnect()
            fixture.transport.refusal.withLock { $0 = (.patch, "", error) }
            try await ana.add(["cy"], to: conversation)
            try await ana.setMetadata("blue", at: "color", of: conversation)
            let shown = try await ana.conversation(conversation)
            #expect(shown?.participants.map(\.id) == ["ana", "bo", "cy"])
            #expect(shown?.isDistinct == false)
            #expect(shown?.metadata == ["color": "blue"])
            ana.connect()
            let failure = try #require(await failures.next())
            #expect(failure.object == .conversation(conversation))
            #expect(failure.error.code == code)
            let after = try await ana.conversation(conversation)
            #expect(after?.participants == before.participants)
            #expect(after?.isDistinct == true)
            #expect(after?.metadata == .empty)
            #expect(try await ana.rowCount(of: "outbox") == 0)
        }
        fixture.transport.refusal.withLock { $0 = nil }
        try await ana.add(["cy"], to: conversation)
        try await eventually("the next change is made") {
            try await fixture.bo.conversation(conversation)?.participants.count == 3
        }
        await fixture.close()
    }
}

/// Answers requests for conversations with errors.
private struct RefusingTransport: Transport {
    let base: any Transport
    /// The method and the end of the path of requests that are refused, and the error; `nil` for none.
    let refusal = Locked<(method: HTTP.Method, path: String, error: String)?>(nil)

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        guard let refusal = refusal.withLock({ $0 }), request.method == refusal.method,
            request.path.hasPrefix("/conversations"), request.path.hasSuffix(refusal.path)
        else { return try await base.send(request) }
        let body = #"{"id":"\#(refusal.error)","code":1,"message":"refused","url":"u","data":{}}"#
        return TransportResponse(status: 422, headers: Fields([]), body: Array(body.utf8))
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        try await base.open(request)
    }
}
