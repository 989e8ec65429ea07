import Messaging
import Testing

@Suite struct `Posting` {
    let conversation = Conversation.sample(
        lastPosition: Position(4), lastSentAt: Timestamp(milliseconds: 50))

    @Test func `R26: a message has the next position, and no earlier time than the last one`()
        throws
    {
        let message = try post(try .text("hello", from: .user(.ana)), at: 40)
        #expect(message.position == Position(5))
        #expect(message.sentAt == Timestamp(milliseconds: 50))
    }

    @Test func `ruling 10: in 1.x only participants can send`() {
        #expect(throws: Rejection.invalid("sender.user_id", .senderParticipant)) {
            try post(try .text("hello", from: .user(.cy)))
        }
    }

    @Test func `ruling 10: from 2.0 on a user with an identity can send`() throws {
        let draft = try Message.Draft(
            sender: .user(.cy), admission: .identities, senderProperty: "sender_id",
            parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline([1]))])
        #expect(try post(draft, hasIdentity: true).sender == .user(.cy))
        #expect(throws: Rejection.invalid("sender_id", .senderIdentity)) { try post(draft) }
    }

    @Test func `a service needs only a name`() throws {
        #expect(try post(try .text("hello", from: .service("Billing"))).sender == .named("Billing"))
    }

    @Test func `R20: a message has 1 to 1000 parts`() throws {
        let part = try MessagePart.Draft(mimeType: "a/b", body: .inline([]))
        for count in [0, 1001] {
            #expect(throws: Rejection.invalid("parts", .partCount, .init(amount: count))) {
                try Message.Draft(
                    sender: .user(.ana), parts: Array(repeating: part, count: count))
            }
        }
        let parts = Array(repeating: part, count: 1000)
        #expect(try Message.Draft(sender: .user(.ana), parts: parts).parts.count == 1000)
    }

    @Test(arguments: ["", "text", "/plain", "text/", "/"])
    func `R21: invalid media types are rejected`(
        mimeType: String
    ) {
        #expect(throws: Rejection.invalid("parts.mime_type", .partType)) {
            try MessagePart.Draft(mimeType: mimeType, body: .inline([]))
        }
    }

    @Test func `R22: 2048 bytes are accepted, 2049 are not`() throws {
        let bytes = [UInt8](repeating: 0, count: 2048)
        #expect(try MessagePart.Draft(mimeType: "a/b", body: .inline(bytes)).mimeType == "a/b")
        #expect(throws: Rejection.invalid("parts.body", .partBodySize, .init(amount: 2049))) {
            try MessagePart.Draft(mimeType: "a/b", body: .inline(bytes + [0]))
        }
    }

    @Test func `R23: all parts together have at most 2 GiB`() throws {
        let half = Content.sample(size: MessagingLimits().messageBytes / 2)
        let two = [Content.sample(1).id: half, .sample(2): half]
        #expect(try post(try .attaching(.sample(1), .sample(2)), contents: two).parts.count == 2)
        let byte = Content.sample(size: 1)
        let detail = Rejection.Detail(amount: 2_147_483_649, limit: 2_147_483_648)
        #expect(throws: Rejection.invalid("parts", .partsSize, detail)) {
            try post(
                try .attaching(.sample(1), .sample(2), .sample(3)),
                contents: two.merging([.sample(3): byte]) { first, _ in first })
        }
    }

    @Test func `ruling 35: the largest message is that of the settings`() throws {
        var limits = MessagingLimits()
        limits.messageBytes = 3
        let draft = try Message.Draft.text("four", from: .user(.ana))
        #expect(throws: Rejection.invalid("parts", .partsSize, .init(amount: 4, limit: 3))) {
            try conversation.posting(
                draft, hasIdentity: false, contents: [:], limits, as: .sample(7),
                partIDs: { index in .sample(UInt128(index)) }, at: Timestamp(milliseconds: 60))
        }
    }

    @Test func `R24: content must be complete`() throws {
        #expect(throws: Rejection.invalid("parts.content", .partContentUnknown)) {
            try post(try .attaching(.sample(1)))
        }
    }

    @Test func `extensions: the stored size wins over the claimed one`() throws {
        let message = try post(
            try .attaching(.sample(1)), contents: [.sample(1): .sample(size: 5)])
        #expect(message.parts.map(\.body) == [.content(.sample(1), size: 5)])
    }

    @Test func `R25: parts keep their order`() throws {
        let message = try post(
            try Message.Draft(
                sender: .user(.ana),
                parts: ["a/1", "a/2", "a/3"].map { mimeType in
                    try MessagePart.Draft(mimeType: mimeType, body: .inline([]))
                }))
        #expect(message.parts.map(\.mimeType) == ["a/1", "a/2", "a/3"])
        #expect(message.parts.map(\.index) == [0, 1, 2])
    }

    private func post(
        _ draft: Message.Draft, hasIdentity: Bool = false, contents: [Content.ID: Content] = [:],
        at moment: Int64 = 60
    ) throws -> Message {
        let event = try conversation.posting(
            draft, hasIdentity: hasIdentity, contents: contents, MessagingLimits(), as: .sample(7),
            partIDs: { index in .sample(UInt128(index)) }, at: Timestamp(milliseconds: moment))
        guard case .messageSent(let sent) = event else { throw Rejection.objectDeleted }
        return sent.message
    }
}

extension Message.Draft {
    fileprivate static func text(_ text: String, from sender: Sender) throws -> Message.Draft {
        try Message.Draft(
            sender: sender,
            parts: [MessagePart.Draft(mimeType: "text/plain", body: .inline(Array(text.utf8)))])
    }

    fileprivate static func attaching(_ contents: Content.ID...) throws -> Message.Draft {
        try Message.Draft(
            sender: .user(.ana),
            parts: contents.map { content in
                try MessagePart.Draft(mimeType: "a/b", body: .content(content, size: 0))
            })
    }
}

extension Content {
    fileprivate static func sample(
        _ number: UInt128 = 1, size: Int64 = 1, conversation: Conversation.ID? = nil
    ) -> Content {
        Content(
            id: .sample(number), conversation: conversation, mimeType: "a/b", size: size,
            fileName: nil, sha256: [], crc32c: 0, md5: nil, sha512: nil,
            completedAt: Timestamp(milliseconds: 0), origin: nil)
    }
}
