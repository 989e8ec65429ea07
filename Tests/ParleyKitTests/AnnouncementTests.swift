import HTTP
import JSON
import Testing

@testable import ParleyKit

/// Messages without a conversation.
@Suite(.timeLimit(.minutes(10))) struct AnnouncementTests {
    @Test func `an announcement is received, read and deleted on all devices of the user (K56)`()
        async throws
    {
        let server = try KitServer()
        let (bo, tablet) = (
            try await server.client("bo"), try await server.client("bo", device: "tablet")
        )
        for client in [bo, tablet] { client.connect() }
        try await server.request(.post, "/users/news/identity", #"{"display_name":"News"}"#)
        var sent: [Message.ID] = []
        for text in ["one", "two"] {
            let answer = try await server.json(
                .post, "/announcements",
                """
                {"recipients":["layer:///identities/bo"],"sender_id":"layer:///identities/news",
                "parts":[{"mime_type":"text/plain","body":"\(text)"}]}
                """)
            sent.append(try #require(answer["id"]?.string.flatMap(Message.ID.init)))
        }
        let query = Query<Message>(
            where: { $0.conversation == nil }, sort: { [$0.sentAt.ascending] })
        for client in [bo, tablet] {
            try await eventually("both have come") { try await client.ids(query) == sent }
        }
        let first = try #require(try await bo.message(sent[0]))
        #expect(first.parts.map(\.text) == ["one"] && first.isUnread && first.isSent)
        #expect(first.id.isAnnouncement)
        var changes = bo.changes.makeAsyncIterator()
        try await bo.markAsRead([sent[0]])
        let expected = ObjectChange(
            object: .message(sent[0]), kind: .updated(property: "isUnread"), before: .flag(true),
            after: .flag(false))
        #expect(await changes.next() == [expected])
        try await bo.delete(sent[1], .myDevices)
        try await eventually("the other device has both changes") {
            let shown = try await tablet.fetch(query)
            return shown.map(\.id) == [sent[0]] && shown.allSatisfy { !$0.isUnread }
        }
        try await eventually("nothing waits") { try await bo.rowCount(of: "outbox") == 0 }
        #expect(try await bo.fetch(query).map(\.isUnread) == [false])
        for client in [bo, tablet] { await client.close() }
    }
}
