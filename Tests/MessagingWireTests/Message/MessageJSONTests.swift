import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `JSON of a message` {
    @Test func `in 3_0 it equals the sample of the specification (3_3)`() throws {
        let ana = BasicIdentity(userID: try user("ana"), displayName: "Ana")
        let shape = MessageJSON(
            Sample.message(Array("keys".utf8), by: .user(ana.userID)), sender: ana,
            recipientStatus: [(ana.userID, .read), (try user("bo"), .sent)])
        let url = "\(Sample.root)/conversations/\(Sample.conversation)/messages/\(Sample.message)"
        #expect(
            text { shape.write(Sample.presentation(.v3_0), isJustSent: true, into: &$0) } == """
                {"id":"layer:///messages/\(Sample.message)","url":"\(url)",\
                "receipts_url":null,"position":196608,\
                "conversation":{"id":"layer:///conversations/\(Sample.conversation)",\
                "url":"\(Sample.root)/conversations/\(Sample.conversation)"},\
                "parts":[{"id":"layer:///messages/\(Sample.message)/parts/\(Sample.part)",\
                "url":"\(url)/parts/\(Sample.part)","message_url":"\(url)",\
                "mime_type":"text/plain","body":"keys","encoding":null,"content":null,\
                "updated_at":null}],\
                "sent_at":"2026-03-01T09:15:30.042Z","received_at":null,"is_unread":null,\
                "sender":{"id":"layer:///identities/ana","url":"\(Sample.root)/users/ana/identity",\
                "user_id":"ana","display_name":"Ana","avatar_url":null},\
                "recipient_status":{"layer:///identities/ana":"read",\
                "layer:///identities/bo":"sent"},\
                "channel":null,"reply_to":null,"notification":null,"updated_at":null}
                """)
    }

    @Test func `in 1_1 the response to sending it has the short URL (1_7)`() throws {
        let shape = MessageJSON(
            Sample.message([], by: .named("Billing")), sender: nil, recipientStatus: [])
        #expect(
            text { shape.write(Sample.presentation(.v1_1), isJustSent: true, into: &$0) } == """
                {"id":"layer:///messages/\(Sample.message)",\
                "url":"\(Sample.root)/messages/\(Sample.message)",\
                "receipts_url":null,"position":null,\
                "conversation":{"id":"layer:///conversations/\(Sample.conversation)",\
                "url":"\(Sample.root)/conversations/\(Sample.conversation)"},\
                "parts":[{"id":"layer:///messages/\(Sample.message)/parts/7",\
                "mime_type":"text/plain","body":"","encoding":null,"content":null}],\
                "sent_at":"2026-03-01T09:15:30.042Z","received_at":null,"is_unread":null,\
                "sender":{"user_id":null,"name":"Billing"},"recipient_status":{},\
                "notification":null}
                """)
    }

    @Test(arguments: [APIVersion.v1_0, .v1_1, .v2_0, .v3_0])
    func `a user gets their own URLs, the position and whether it is unread (1_7)`(
        version: APIVersion
    ) throws {
        let shape = MessageJSON(
            Sample.message([], by: .named("x")), sender: nil, recipientStatus: [], isUnread: true)
        let presentation = Sample.presentation(version, .user(try user("team/42")))
        let shown = text { shape.write(presentation, into: &$0) }
        let url = "\(Sample.root)/users/team%2F42/messages/\(Sample.message)"
        #expect(shown.contains(#""url":"\#(url)","receipts_url":"\#(url)/receipts","#))
        #expect(shown.contains(#""position":196608,"#))
        #expect(shown.contains(#""is_unread":true,"#))
    }

    @Test(arguments: [
        (Array("grüß".utf8), #""body":"grüß","encoding":null,"#),
        ([0xFF, 0xFE], #""body":"//4=","encoding":"base64","#),
        ([0xED, 0xA0, 0x80], #""body":"7aCA","encoding":"base64","#),
        ([0x00], #""body":"\u0000","encoding":null,"#),
        ([], #""body":"","encoding":null,"#),
    ])
    func `UTF-8 bytes are written as text, others in base64 (3_4)`(
        bytes: [UInt8], shown: String
    ) throws {
        let shape = MessageJSON(
            Sample.message(bytes, by: .named("x")), sender: nil, recipientStatus: [])
        #expect(text { shape.write(Sample.presentation(.v1_0), into: &$0) }.contains(shown))
    }

    @Test func `content has a new download URL (3_5)`() throws {
        let message = Message(
            id: Sample.message, conversation: Sample.conversation, position: Position(1),
            sender: .named("x"), sentAt: Sample.moment,
            parts: [
                MessagePart(
                    id: Sample.part, index: 0, mimeType: "image/png",
                    body: .content(Sample.content, size: 5))
            ])
        let shape = MessageJSON(message, sender: nil, recipientStatus: [])
        #expect(
            text { shape.write(Sample.presentation(.v2_0), into: &$0) }.contains(
                """
                "mime_type":"image/png","body":null,"encoding":null,\
                "content":{"id":"layer:///content/\(Sample.content)","size":5,\
                "download_url":"signed:\(Sample.content)",\
                "refresh_url":"\(Sample.root)/conversations/\(Sample.conversation)\
                /content/\(Sample.content)","expiration":"2026-03-01T09:15:30.042Z"}}
                """))
    }

    @Test func `a bot is a user from 2_0 on and a name before (1_3)`() throws {
        let bot = BasicIdentity(userID: try user("bot"), displayName: "Helper", kind: .bot)
        let shape = MessageJSON(
            Sample.message([], by: .user(bot.userID)), sender: bot, recipientStatus: [])
        #expect(
            text { shape.write(Sample.presentation(.v1_1), into: &$0) }
                .contains(#""sender":{"user_id":null,"name":"Helper"}"#))
        #expect(
            text { shape.write(Sample.presentation(.v2_0), into: &$0) }
                .contains(#""user_id":"bot","display_name":"Helper""#))
    }

    @Test func `from 2_0 on a service is an identity without a user (1_3)`() throws {
        let shape = MessageJSON(
            Sample.message([], by: .named("Billing")), sender: nil, recipientStatus: [])
        #expect(
            text { shape.write(Sample.presentation(.v2_0), into: &$0) }.contains(
                """
                "sender":{"id":null,"url":null,"user_id":null,"display_name":"Billing",\
                "avatar_url":null}
                """))
    }

    @Test(arguments: [APIVersion.v1_1, .v3_0], [true, false])
    func `is the same alone and after other messages`(
        version: APIVersion, isForUser: Bool
    ) throws {
        let (ana, bo) = (try user("ana"), try user("bo"))
        let names = [nil, BasicIdentity(userID: ana, displayName: "Ana"), nil]
        var shapes: [MessageJSON] = []
        for conversation in [Sample.conversation, Conversation.ID(Sample.message)] {
            for sender in [Sender.user(ana), .user(bo), .named("\"Billing\"")] {
                for (status, name) in zip([RecipientStatus.sent, .read, .read], names) {
                    let message = Message(
                        id: Sample.message, conversation: conversation, position: Position(3),
                        sender: sender, sentAt: Sample.moment, parts: [])
                    shapes.append(
                        MessageJSON(message, sender: name, recipientStatus: [(bo, status)]))
                }
            }
        }
        let presentation = Sample.presentation(version, isForUser ? .user(ana) : .system)
        var messages = MessageWriter(presentation)
        for shape in shapes + shapes.reversed() {
            let alone = text { shape.write(presentation, into: &$0) }
            #expect(text { messages.write(shape, into: &$0) } == alone)
        }
    }
}
