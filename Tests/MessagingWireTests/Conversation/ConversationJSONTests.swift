import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `JSON of a conversation` {
    private func shape(userView: ConversationJSON.UserView? = nil) throws -> ConversationJSON {
        ConversationJSON(
            id: Sample.conversation, createdAt: Sample.moment,
            participants: [
                BasicIdentity(userID: try user("ana"), displayName: "Ana"),
                BasicIdentity(userID: try user("team/42")),
            ],
            participantCount: 2, isDistinct: false, metadata: ["topic": "rent", "a": ["b": [:]]],
            userView: userView)
    }

    private let url = "\(Sample.root)/conversations/\(Sample.conversation)"

    @Test(arguments: [APIVersion.v1_0, .v1_1])
    func `before 2_0 participants are bare ids (3_2)`(version: APIVersion) throws {
        let shape = try shape()
        #expect(
            text { shape.write(Sample.presentation(version), into: &$0) } == """
                {"id":"layer:///conversations/\(Sample.conversation)","url":"\(url)",\
                "messages_url":"\(url)/messages","created_at":"2026-03-01T09:15:30.042Z",\
                "participants":["ana","team/42"],"participants_count":2,"distinct":false,\
                "metadata":{"topic":"rent","a":{"b":{}}}}
                """)
    }

    @Test(arguments: [APIVersion.v2_0, .v3_0])
    func `from 2_0 on participants are identities (3_1)`(version: APIVersion) throws {
        let shape = try shape()
        #expect(
            text { shape.write(Sample.presentation(version), into: &$0) }.contains(
                """
                "participants":[{"id":"layer:///identities/ana",\
                "url":"\(Sample.root)/users/ana/identity","user_id":"ana","display_name":"Ana",\
                "avatar_url":null},{"id":"layer:///identities/team%2F42",\
                "url":"\(Sample.root)/users/team%2F42/identity","user_id":"team/42",\
                "display_name":null,"avatar_url":null}],"participants_count":2,
                """))
    }

    @Test func `a user gets their own URLs and counts (3_2)`() throws {
        let shape = try shape(
            userView: ConversationJSON.UserView(lastMessage: nil, unreadCount: 2, totalCount: 5))
        let bo = Perspective.user(try user("bo"))
        let old = text { shape.write(Sample.presentation(.v1_1, bo), into: &$0) }
        let new = text { shape.write(Sample.presentation(.v2_0, bo), into: &$0) }
        #expect(
            old.contains("\(Sample.root)/users/bo/conversations/\(Sample.conversation)/messages"))
        #expect(old.hasSuffix(#","last_message":null,"unread_message_count":2}"#))
        #expect(
            new.hasSuffix(
                #","last_message":null,"unread_message_count":2,"total_message_count":5}"#))
    }
}

@Suite struct `JSON of a content` {
    private let content = ContentJSON(id: Sample.content, size: 48211, in: Sample.conversation)

    @Test func `before its upload it has only an upload URL (5_4)`() {
        #expect(
            text { content.write(uploadURL: "https://u/1", into: &$0) } == """
                {"id":"layer:///content/\(Sample.content)","size":48211,\
                "upload_url":"https://u/1","download_url":null,"refresh_url":null,\
                "expiration":null}
                """)
    }

    @Test func `once complete it has all other members (5_4)`() {
        let presentation = Sample.presentation(.v1_0)
        #expect(
            text { content.write(presentation.links, presentation.sign(Sample.content), into: &$0) }
                == """
                {"id":"layer:///content/\(Sample.content)","size":48211,\
                "download_url":"signed:\(Sample.content)",\
                "refresh_url":"\(Sample.root)/conversations/\(Sample.conversation)/content/\
                \(Sample.content)","expiration":"2026-03-01T09:15:30.042Z"}
                """)
    }
}
