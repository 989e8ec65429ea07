import JSON
import Messaging
import TestSupport
import Testing

@testable import MessagingWire

@Suite struct `The body of a webhook` {
    private static let conversation = Conversation.ID(
        uuid: "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a")
    private static let root =
        "https://chat.example.com/apps/7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"

    // MARK: - The samples of webhooks 4.3

    @Test func `equals the 1_0 sample for a read message (webhooks 4_3)`() throws {
        let event = try event(
            "4f0e2d1c-9b8a-4765-8c3d-2e1f0a9b8c7d", .messageRead, 1_772_356_691_400, "bo", by: nil,
            .message(try message(.read)))
        #expect(
            try written(event, .v1_0) == """
                {"event":{"created_at":"2026-03-01T09:18:11.400Z","type":"message.read",\
                "id":"4f0e2d1c-9b8a-4765-8c3d-2e1f0a9b8c7d","actor":{"user_id":"bo"}},\
                "message":{"id":"layer:///messages/a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d",\
                "url":"\(Self.root)/messages/a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d",\
                "conversation":{"id":"layer:///conversations/0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a",\
                "url":"\(Self.root)/conversations/0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"},\
                "parts":[{"id":"layer:///messages/a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d/parts/0",\
                "mime_type":"text/plain","body":"keys are under the mat"}],\
                "sent_at":"2026-03-01T09:16:02.500Z","sender":{"user_id":"ana","name":null},\
                "recipient_status":{"ana":"read","bo":"read"}}}
                """)
    }

    @Test func `equals the 2_0 sample for a new message (webhooks 4_3)`() throws {
        let event = try event(
            "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d", .messageSent, 1_772_356_562_500, "ana",
            by: identity("ana"), .message(try message(.sent)))
        let url = "\(Self.root)/conversations/0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"
        let part = "5e8d7c6b-4a39-4821-b7f6-0c9d8e7f6a5b"
        let id = "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d"
        #expect(
            try written(event, .v2_0) == """
                {"event":{"id":"\(id)","type":"Message.created",\
                "created_at":"2026-03-01T09:16:02.500Z"},"actor":\(Self.ana),\
                "message":{"id":"layer:///messages/\(id)","url":"\(url)/messages/\(id)",\
                "conversation":{"id":"layer:///conversations/0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a",\
                "url":"\(url)"},"parts":[{"id":"layer:///messages/\(id)/parts/\(part)",\
                "url":"https://chat.example.com/messages/\(id)/parts/\(part)",\
                "mime_type":"text/plain","body":"keys are under the mat"}],\
                "sent_at":"2026-03-01T09:16:02.500Z","sender":\(Self.ana),\
                "recipient_status":{"layer:///identities/ana":"read",\
                "layer:///identities/bo":"sent"},"position":196608}}
                """)
    }

    @Test func `equals the 2_0 sample for a range of receipts (webhooks 4_3)`() throws {
        let id = try #require(Self.conversation)
        let event = try event(
            "6b5a4938-2716-4f0e-9d8c-7b6a59483726", .receiptCreated, 1_772_356_691_400, "ana",
            by: identity("ana"), .receipt(.read, 2...3, in: id))
        #expect(
            try written(event, .v3_0) == """
                {"event":{"id":"6b5a4938-2716-4f0e-9d8c-7b6a59483726","type":"Receipt.created",\
                "created_at":"2026-03-01T09:18:11.400Z"},"actor":\(Self.ana),\
                "conversation":{"id":"layer:///conversations/\(id)",\
                "url":"\(Self.root)/conversations/\(id)"},\
                "receipt":{"type":"Read","positions":{"from":131072,"to":196608}}}
                """)
    }

    @Test func `equals the 2_0 sample for removed users (webhooks 4_3)`() throws {
        let id = try #require(Self.conversation)
        let event = try event(
            "6b5a4938-2716-4f0e-9d8c-7b6a59483726", .participationDeleted, 0, nil, by: nil,
            .participation(
                conversation(
                    [try identity("ana")], isDistinct: false,
                    metadata: ["b": "1", "10": "2", "2": ["y": "3", "0": "4"]]),
                changes: [try identity("ana")]))
        #expect(
            try written(event, .v2_0) == """
                {"event":{"id":"6b5a4938-2716-4f0e-9d8c-7b6a59483726",\
                "type":"Participation.deleted","created_at":"1970-01-01T00:00:00.000Z"},\
                "conversation":{"id":"layer:///conversations/\(id)",\
                "url":"\(Self.root)/conversations/\(id)","created_at":"1970-01-01T00:00:00.000Z",\
                "messages_url":"\(Self.root)/conversations/\(id)/messages","distinct":false,\
                "participants":[\(Self.ana)],"participants_count":1,\
                "metadata":{"2":{"0":"4","y":"3"},"10":"2","b":"1"}},"changes":[\(Self.ana)]}
                """)
    }

    @Test func `shows a part, and the ids of a deleted part (webhooks 4_2)`() throws {
        let id = try #require(Self.conversation)
        let message = Message.ID.v7(at: Timestamp(milliseconds: 1), random: 1)
        let part = MessagePart.ID.v7(at: Timestamp(milliseconds: 1), random: 2)
        let names = """
            "id":"layer:///messages/\(message)/parts/\(part)",\
            "url":"https://chat.example.com/messages/\(message)/parts/\(part)"
            """
        let behind = """
            "message":{"id":"layer:///messages/\(message)",\
            "url":"\(Self.root)/conversations/\(id)/messages/\(message)",\
            "conversation":{"id":"layer:///conversations/\(id)",\
            "url":"\(Self.root)/conversations/\(id)"}}}
            """
        let there = MessagePart(id: part, index: 4, mimeType: "a/b", body: .inline([0xFF]))
        let made = try event(
            part.uuid, .partUpdated, 0, nil, by: nil, .part(there, of: message, in: id))
        #expect(
            try written(made, .v3_0).hasSuffix(
                #""message_part":{\#(names),"mime_type":"a/b","body":"/w==","encoding":"base64"},"#
                    + behind))
        let deleted = try event(
            part.uuid, .partDeleted, 0, nil, by: nil,
            .deletedPart(.init(id: part, index: 4), of: message, in: id))
        #expect(try written(deleted, .v3_0).hasSuffix(#""message_part":{\#(names)},"# + behind))
    }

    @Test func `has no actor for changes to a conversation in 1_0 (webhooks 4_1)`() throws {
        let event = try event(
            "6b5a4938-2716-4f0e-9d8c-7b6a59483726", .metadataChanged, 0, "ana", by: identity("ana"),
            .conversation(
                conversation([try identity("ana")], isDistinct: true, metadata: .empty)))
        let text = try written(event, .v1_0)
        #expect(!text.contains("actor"))
        #expect(text.contains(#""participants":["ana"],"participants_count":1,"metadata":{}"#))
        #expect(try written(event, .v3_0).contains(#""actor":{"id":"layer:///identities/ana""#))
    }

    // MARK: - Signed bytes (webhooks 3.2)

    @Test(arguments: [APIVersion.v1_0, .v3_0])
    func `of a message in a wide conversation counts its recipients (ruling 38)`(
        version: APIVersion
    ) throws {
        let narrow = try message(.sent)
        let wide = MessageSnapshot(
            message: narrow.message, sender: narrow.sender, recipients: [],
            recipientCounts: RecipientCounts(sent: 117, delivered: 2, read: 1), isUnread: nil,
            receivedAt: nil)
        let event = try event(
            "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d", .messageSent, 1_772_356_562_500, "ana",
            by: identity("ana"), .message(wide))
        let text = try written(event, version)
        #expect(
            text.contains(
                #""recipient_status":{},"recipient_counts":{"sent":117,"delivered":2,"read":1}"#))
    }

    @Test(arguments: 0..<400 as Range<UInt64>)
    func `survives JSON_stringify of JSON_parse (webhooks 3_2)`(number: UInt64) throws {
        var random = SeededGenerator(number)
        let conversation = try conversation(
            random.list(0...4) { random in random.name() }.compactMap { UserID($0) }
                .map { BasicIdentity(userID: $0, displayName: random.name()) },
            isDistinct: random.once(in: 2), metadata: random.tree(3))
        let message = MessageSnapshot(
            message: Message(
                id: .v7(at: Timestamp(milliseconds: 1), random: 1),
                conversation: conversation.conversation.id,
                position: Position(1), sender: .named(random.name()),
                sentAt: Timestamp(milliseconds: 0),
                parts: random.list(1...3) { random in
                    MessagePart(
                        id: .v7(at: Timestamp(milliseconds: 1), random: 1), index: 0,
                        mimeType: random.name(), body: .inline(Array(random.name().utf8)))
                }),
            sender: nil,
            recipients: random.names(0...6).compactMap { UserID($0) }
                .map { MessageSnapshot.Recipient(userID: $0, status: .sent) },
            isUnread: nil, receivedAt: nil)
        for (subject, version): (WebhookEvent.Subject, APIVersion) in [
            (.conversation(conversation), .v1_0), (.conversation(conversation), .v3_0),
            (.message(message), .v1_0), (.message(message), .v3_0),
        ] {
            let event = try event(
                "6b5a4938-2716-4f0e-9d8c-7b6a59483726", .messageSent, 0, "7", by: nil, subject)
            let text = try written(event, version)
            let again = reserialized(try JSONDocument(Array(text.utf8)).root)
            #expect(text == String(decoding: again, as: UTF8.self))
        }
    }

    // MARK: - Values

    private static let ana = """
        {"id":"layer:///identities/ana","url":"\(root)/identities/ana","user_id":"ana",\
        "display_name":"Ana","avatar_url":null}
        """

    private func identity(_ name: String) throws -> BasicIdentity {
        BasicIdentity(userID: try #require(UserID(name)), displayName: "Ana")
    }

    private func event(
        _ id: String, _ topic: WebhookTopic, _ moment: Int64, _ actor: String?,
        by identity: BasicIdentity?, _ subject: WebhookEvent.Subject
    ) throws -> WebhookEvent {
        WebhookEvent(
            versions: [], position: .start, id: try #require(EventID(uuid: id)), topic: topic,
            at: Timestamp(milliseconds: moment),
            actor: try actor.map { name in .user(try #require(UserID(name))) },
            actorIdentity: identity, trace: nil, subject: subject)
    }

    private func conversation(
        _ participants: [BasicIdentity], isDistinct: Bool, metadata: MetadataTree
    ) throws -> ConversationSnapshot {
        ConversationSnapshot(
            conversation: Conversation(
                id: try #require(Self.conversation), createdAt: Timestamp(milliseconds: 0),
                participants: Participants(participants.map(\.userID)), isDistinct: isDistinct,
                metadata: Metadata(metadata, at: Timestamp(milliseconds: 0))),
            participants: participants)
    }

    private func message(_ status: RecipientStatus) throws -> MessageSnapshot {
        let (ana, bo) = (try #require(UserID("ana")), try #require(UserID("bo")))
        return MessageSnapshot(
            message: Message(
                id: try #require(Message.ID(uuid: "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d")),
                conversation: try #require(Self.conversation), position: Position(3),
                sender: .user(ana), sentAt: Timestamp(milliseconds: 1_772_356_562_500),
                parts: [
                    MessagePart(
                        id: try #require(
                            MessagePart.ID(uuid: "5e8d7c6b-4a39-4821-b7f6-0c9d8e7f6a5b")),
                        index: 0, mimeType: "text/plain",
                        body: .inline(Array("keys are under the mat".utf8)))
                ]),
            sender: try identity("ana"),
            recipients: [.init(userID: ana, status: .read), .init(userID: bo, status: status)],
            isUnread: nil, receivedAt: nil)
    }

    private func written(_ event: WebhookEvent, _ version: APIVersion) throws -> String {
        let application = try #require(
            Application.ID(uuid: "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"))
        var writer = JSONWriter()
        WebhookEventJSON.write(
            event,
            Presentation(
                version: version,
                links: LinkBuilder(
                    publicBase: "https://chat.example.com", application: application),
                sign: { _ in ("", 0) }), into: &writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}

extension SeededGenerator {
    /// A name that is easily sorted or escaped wrongly.
    fileprivate mutating func name() -> String {
        one(of: [
            "0", "1", "10", "9", "007", "-1", "4294967294", "4294967295", "1.5", "a", "A",
            "\u{FFFD}",
            "a/b", "\"", "\\", "\u{8}\t\n\u{C}\r\u{1}\u{1F}\u{7F}", "naïve", "🗝", "\u{2028}", "é",
            "__proto__", "z\(number(0...99))", "\(number(0...99))",
        ])
    }

    fileprivate mutating func names(_ sizes: ClosedRange<Int>) -> [String] {
        list(sizes) { random in random.name() }.reduce(into: []) { names, name in
            if !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { names.append(name) }
        }
    }

    fileprivate mutating func tree(_ depth: Int) -> MetadataTree {
        guard depth > 0, !once(in: 4) else { return .text(name()) }
        return .object(
            names(0...5).map { key in
                MetadataTree.Member(key: key, value: tree(depth - 1))
            })
    }
}

/// The result of `JSON.stringify(JSON.parse(text))`: members in the order of ECMA-262
/// (OrdinaryOwnPropertyKeys), strings with its escapes, no white space.
func reserialized(_ value: JSONValue) -> [UInt8] {
    switch value.kind {
    case .object:
        var indices: [(UInt64, [UInt8])] = []
        var others: [[UInt8]] = []
        for (key, value) in value.members {
            let member = quoted(key) + [UInt8(ascii: ":")] + reserialized(value)
            if let number = UInt64(key), "\(number)" == key, number < 4_294_967_295 {
                indices.append((number, member))
            } else {
                others.append(member)
            }
        }
        let members = indices.sorted { $0.0 < $1.0 }.map(\.1) + others
        return [UInt8(ascii: "{")] + Array(members.joined(separator: [UInt8(ascii: ",")]))
            + [UInt8(ascii: "}")]
    case .array:
        return [UInt8(ascii: "[")]
            + Array(value.elements.map(reserialized).joined(separator: [UInt8(ascii: ",")]))
            + [UInt8(ascii: "]")]
    case .string: return quoted(value.string ?? "")
    default: return Array(value.description.utf8)
    }
}

private func quoted(_ text: String) -> [UInt8] {
    var bytes = [UInt8(ascii: "\"")]
    for scalar in text.unicodeScalars {
        switch scalar.value {
        case 0x22: bytes += Array(#"\""#.utf8)
        case 0x5C: bytes += Array(#"\\"#.utf8)
        case 0x08: bytes += Array(#"\b"#.utf8)
        case 0x09: bytes += Array(#"\t"#.utf8)
        case 0x0A: bytes += Array(#"\n"#.utf8)
        case 0x0C: bytes += Array(#"\f"#.utf8)
        case 0x0D: bytes += Array(#"\r"#.utf8)
        case 0..<0x20:
            let digits = String(scalar.value, radix: 16)
            bytes += Array(
                (#"\u"# + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
        default: bytes += Array(String(Character(scalar)).utf8)
        }
    }
    return bytes + [UInt8(ascii: "\"")]
}
