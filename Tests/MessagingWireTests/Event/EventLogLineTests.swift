import Messaging
import Testing

@testable import MessagingWire

@Suite struct `The log line of an event` {
    static let moment = Timestamp(milliseconds: 1_777_732_467_999)
    static let conversation = Conversation.ID.v7(at: moment, random: 1)
    static let message = Message.ID.v7(at: moment, random: 2)

    static func message(by sender: Sender) -> Event {
        .messageSent(
            MessageSent(
                message: Message(
                    id: message, conversation: conversation, position: Position(1), sender: sender,
                    sentAt: moment, parts: [])))
    }

    @Test func `has the time in seconds, the category, the actor and the change`() throws {
        let ana = try #require(UserID("ana"))
        #expect(
            line(Self.message(by: .user(ana)))
                == "2026-05-02T14:34:27Z Sync: User ana created a message in conversation "
                + "\(Self.conversation)."
        )
    }

    @Test func `names services, tokens, and the server itself`() {
        #expect(
            line(Self.message(by: .named("Billing"))).contains(" Sync: Service Billing created "))
        let id = Token.ID.v7(at: Self.moment, random: 3)
        let deleted = Event.conversationDeleted(
            ConversationDeleted(
                conversation: Conversation(
                    id: Self.conversation, createdAt: Self.moment, participants: Participants([]),
                    isDistinct: false, metadata: Metadata()), at: Self.moment))
        #expect(
            line(deleted, recordedFor: .token(id)).hasSuffix(
                "Z Sync: Token \(id) deleted conversation \(Self.conversation)."))
        #expect(line(deleted).contains("Z Sync: The server deleted "))
    }

    @Test(arguments: [
        ("a\nb", "a\\u{a}b"), ("a\u{2028}b", "a\\u{2028}b"), ("\u{202E}evil", "\\u{202e}evil"),
        ("back\\slash", "back\\u{5c}slash"), ("Zoë 🗝", "Zoë 🗝"), ("\u{1B}[31m", "\\u{1b}[31m"),
    ])
    func `is one line, whatever a name contains`(name: String, shown: String) {
        #expect(line(Self.message(by: .named(name))).contains("Service \(shown) created"))
        #expect(!line(Self.message(by: .named(name))).contains("\n"))
    }

    @Test func `uses the singular for one object`() throws {
        let (ana, bo) = (try #require(UserID("ana")), try #require(UserID("bo")))
        let blocks = Event.blocksChanged(
            BlocksChanged(owner: ana, added: [bo], removed: [], at: Self.moment))
        #expect(line(blocks).hasSuffix("blocked 1 user for user ana and lifted 0 blocks."))
        let read = Event.receiptsRecorded(
            ReceiptsRecorded(
                conversation: Self.conversation, user: bo, kind: .read,
                positions: IntervalSet([1...3, 5...5]), at: Self.moment))
        #expect(
            line(read).hasSuffix(
                "Sync: User bo read messages up to position 327680 in conversation \(Self.conversation)."
            ))
    }

    @Test func `names the requested conversation and its alias`() {
        let alias = Conversation.ID.v7(at: Self.moment, random: 4)
        let matched = { alias in
            Event.conversationMatched(
                ConversationMatched(conversation: Self.conversation, key: nil, alias: alias))
        }
        let expected = "The server requested conversation \(Self.conversation), which exists"
        #expect(line(matched(nil)).hasSuffix("\(expected)."))
        #expect(line(matched(alias)).hasSuffix("\(expected), as \(alias)."))
    }

    @Test func `states whether a scheduled message was sent or dropped`() {
        let ended = { isSent in
            Event.scheduleEnded(
                ScheduleEnded(message: Self.message, isSent: isSent, at: Self.moment))
        }
        #expect(line(ended(true)).hasSuffix("The server sent scheduled message \(Self.message)."))
        #expect(line(ended(false)).contains(" dropped scheduled message "))
    }

    @Test(arguments: [
        (Webhook.Status.unverified, "Token {T} requested verification of webhook {W}."),
        (.active(since: .start), "Token {T} activated webhook {W}."),
        (
            .inactive(reason: "Delivery failed: 410\nGone"),
            "Token {T} deactivated webhook {W}, Delivery failed: 410\\u{a}Gone."
        ),
    ])
    func `states the new status of a webhook and its reason`(status: Webhook.Status, shown: String)
    {
        let (token, id) = (Token.ID.v7(at: Self.moment, random: 3), Self.webhook(status).id)
        let expected = shown.replacing("{T}", with: token.uuid).replacing("{W}", with: id.uuid)
        #expect(
            line(
                .webhookUpdated(WebhookUpdated(webhook: Self.webhook(status))),
                recordedFor: .token(token))
                == "2026-05-02T14:34:27Z Webhook: \(expected)")
    }

    @Test func `states the creation, rotation and deletion of a webhook`() {
        let webhook = Self.webhook(.unverified)
        #expect(
            line(.webhookCreated(WebhookCreated(webhook: webhook))).hasSuffix(
                "Z Webhook: The server created webhook \(webhook.id) to https://a.example/in."))
        #expect(
            line(
                .webhookSecretRotated(
                    WebhookSecretRotated(webhook: webhook, formerUntil: Self.moment))
            ).hasSuffix(
                " replaced the secret of webhook \(webhook.id)."))
        #expect(
            line(.webhookDeleted(WebhookDeleted(webhook: webhook))).hasSuffix(
                " deleted webhook \(webhook.id)."))
    }

    private static func webhook(_ status: Webhook.Status) -> WebhookSummary {
        WebhookSummary(
            id: .v7(at: moment, random: 4), payloadVersion: .v1_0,
            target: "https://a.example/in?key=k", topics: [.messageSent], config: nil,
            status: status, createdAt: moment)
    }

    private func line(_ event: Event, recordedFor recorder: EventActor? = nil) -> String {
        EventLogLine.text(event, by: event.author ?? recorder, at: Self.moment)
    }
}
