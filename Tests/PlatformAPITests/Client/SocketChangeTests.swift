import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

@Suite struct `The changes that a WebSocket sends` {
    @Test func `tells of a message, its receipts, parts and deletion (5_4)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let message = try await chat.send("second")
        let created = try await bo.next(2)
        #expect(created.map(\.what) == ["create Message", "update Conversation"])
        #expect(created[0].packetData?["is_unread"]?.bool == true)
        #expect(created[0].packetData?["url"]?.string == "\(TestServer.base)/messages/\(message)")
        #expect(
            created[1].packetData?.elements.map { $0["value"]?.integer ?? -1 } == [-1, 2])
        _ = try await ana.next(2)
        try await chat.post("/messages/\(message)/receipts", #"{"type":"delivery"}"#, by: chat.bo)
        let delivered = try await ana.next()
        #expect(delivered.what == "update Message")
        #expect(
            delivered.packetData?.elements.map { $0["property"]?.string ?? "" } == [
                "recipient_status.layer:///identities/bo"
            ])
        try await chat.post("/messages/\(message)/receipts", #"{"type":"read"}"#, by: chat.bo)
        _ = try await ana.next()
        _ = try await bo.next()
        let own = try await bo.next(2)
        #expect(own.map(\.what) == ["update Message", "update Conversation"])
        #expect(
            own[0].packetData?.elements.map { $0["property"]?.string ?? "" } == [
                "recipient_status.layer:///identities/bo", "is_unread",
            ])
        let part = try await chat.login.send(
            "POST", "/messages/\(message)/parts", #"{"mime_type":"text/plain","body":"more"}"#,
            session: chat.ana)
        #expect(part.status == 201, "\(part.body)")
        let added = try await bo.next()
        #expect(added.what == "create MessagePart")
        #expect(added.packetData?["body"]?.string == "more")
        let deleted = try await chat.login.send(
            "DELETE", "/messages/\(message)?mode=all_participants", session: chat.ana)
        #expect(deleted.status == 204)
        let gone = try await bo.next(2)
        #expect(gone.map(\.what) == ["delete Message", "update Conversation"])
        #expect(gone[0].packetData?["mode"]?.string == "all_participants")
    }

    @Test func `tells of participants, metadata and deletions of conversations (5_4)`()
        async throws
    {
        let chat = try await SocketChat.make()
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        let patched = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"set","property":"metadata.a","value":"b"},{"operation":"add","property":"participants","id":"layer:///identities/cy"}]"#,
            session: chat.ana)
        #expect(patched.status == 204, "\(patched.body)")
        let seen = try await bo.next(3)
        #expect(Set(seen.map(\.what)) == ["update Conversation", "create Identity"])
        let operations = seen.filter { $0.what == "update Conversation" }
            .flatMap { packet in packet.packetData?.list ?? [] }
        #expect(
            Set(operations.compactMap { $0["property"]?.string }) == [
                "metadata.a", "participants", "distinct",
            ])
        let added = operations.first { $0["operation"]?.string == "add" }
        #expect(added?["id"]?.string == "layer:///identities/cy")
        #expect(added?["value"]?["user_id"]?.string == "cy")
        let hidden = try await chat.login.send(
            "DELETE", "/conversations/\(chat.conversation)?mode=my_devices&leave=false",
            session: chat.bo)
        #expect(hidden.status == 204)
        let cleared = try await bo.next()
        #expect(cleared.what == "delete Conversation")
        #expect(cleared.packetData?["mode"]?.string == "my_devices")
        #expect(cleared.packetData?["from_position"]?.isNull == true)
        try await chat.send("again")
        let again = try await bo.next(4)
        #expect(
            again.map(\.what) == [
                "delete Conversation", "create Conversation", "create Message",
                "update Conversation",
            ])
        #expect(again[0].packetData?["from_position"]?.integer == 65_536)
        let deleted = try await chat.login.send(
            "DELETE", "/conversations/\(chat.conversation)?mode=all_participants",
            session: chat.ana)
        #expect(deleted.status == 204)
        let last = try await bo.next()
        #expect(last.what == "delete Conversation")
        #expect(last.packetData?["mode"]?.string == "all_participants")
    }

    @Test func `tells of participants that leave and that are removed (5_4, R17)`() async throws {
        let chat = try await SocketChat.make()
        let cy = try await chat.login.session(of: "cy")
        let added = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"add","property":"participants","id":"layer:///identities/cy"}]"#,
            session: chat.ana)
        #expect(added.status == 204)
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let third = try await chat.open(cy)
        let left = try await chat.login.send(
            "DELETE", "/conversations/\(chat.conversation)?mode=my_devices&leave=true",
            session: chat.bo)
        #expect(left.status == 204)
        let own = try await bo.next()
        #expect(own.what == "delete Conversation")
        #expect(own.packetData?["mode"]?.string == "my_devices")
        for other in [ana, third] {
            let update = try await other.next()
            #expect(update.what == "update Conversation")
            let operation = update.packetData?.list.first
            #expect(operation?["operation"]?.string == "remove")
            #expect(operation?["id"]?.string == "layer:///identities/bo")
        }
        let removed = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"remove","property":"participants","id":"layer:///identities/cy"}]"#,
            session: chat.ana)
        #expect(removed.status == 204)
        let last = try await third.next()
        #expect(last.what == "update Conversation")
        #expect(last.packetData?.list.first?["id"]?.string == "layer:///identities/cy")
        try await chat.send("after")
        #expect(try await third.sync().allSatisfy { $0.what == "delete Identity" })
        #expect(try await bo.sync().allSatisfy { $0.what == "delete Identity" })
    }

    @Test
    func `a wide conversation tells of messages, but not who has read and who types (ruling 38)`()
        async throws
    {
        let chat = try await SocketChat.make(in: .wide(receiptInterval: 10))
        let names = (0..<5).map { "\"layer:///identities/u\($0)\"" }.joined(separator: ",")
        let widened = try await chat.login.send(
            "PATCH", "/conversations/\(chat.conversation)",
            #"[{"operation":"set","property":"participants","value":["layer:///identities/ana","layer:///identities/bo",\#(names)]}]"#,
            session: chat.ana)
        #expect(widened.status == 204, "\(widened.body)")
        try await chat.send()
        let (ana, bo) = (try await chat.open(chat.ana), try await chat.open(chat.bo))
        let message = try await chat.send("wide")
        #expect(try await bo.next(2).map(\.what) == ["create Message", "update Conversation"])
        _ = try await ana.next(2)
        try await chat.post("/messages/\(message)/receipts", #"{"type":"read"}"#, by: chat.bo)
        #expect(try await bo.next(2).map(\.what) == ["update Message", "update Conversation"])
        try await chat.post(
            "/conversations/\(chat.conversation)/typing", #"{"action":"started"}"#, by: chat.bo)
        #expect(try await ana.socket.isSilent(for: 500))
    }

    @Test(arguments: ["1.0", "2.0", "3.0"])
    func `reading all is one operation from 2_0 on, and dots in ids are escaped (5_4, 5_5)`(
        version: String
    ) async throws {
        let chat = try await SocketChat.make(version: version)
        let login = chat.login
        let name = version == "1.0" ? "dot.ted" : "layer:///identities/dot.ted"
        let dotted = try await login.session(of: "dot.ted")
        let created = try await login.send(
            "POST", "/conversations", #"{"participants":["\#(name)"]}"#, session: chat.ana)
        let uuid = try #require(created.createdID)
        for text in ["a", "b"] {
            try await chat.post(
                "/conversations/\(uuid)/messages",
                #"{"parts":[{"mime_type":"text/plain","body":"\#(text)"}]}"#, by: chat.ana)
        }
        let ana = try await chat.open(chat.ana, version: version)
        try await chat.post("/conversations/\(uuid)/mark_all_read", "{}", by: dotted)
        if version == "1.0" {
            let updates = try await ana.next(2)
            #expect(updates.map(\.what) == ["patch Message", "patch Message"])
            let property = updates[0].packetData?.list.first?["property"]
            #expect(property?.string == #"recipient_status.dot\.ted"#)
        } else {
            let operation = try await ana.next()
            #expect(operation.what == "Conversation.mark_all_read")
            #expect(operation["type"]?.string == "operation")
            #expect(operation.packetData?["position"]?.integer == 131_072)
            #expect(operation.packetData?["identity"]?["user_id"]?.string == "dot.ted")
        }
        #expect(try await ana.sync().isEmpty)
    }

    @Test func `tells of announcements and identities (5_4)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let bo = try await chat.open(chat.bo)
        let announced = try await chat.login.sendAsServer(
            "POST", "/apps/{app}/announcements",
            #"{"recipients":["layer:///identities/bo"],"sender_id":"layer:///identities/ana","parts":[{"mime_type":"text/plain","body":"Water off"}]}"#
        )
        #expect(announced.status == 202, "\(announced.body)")
        let announcement = try await bo.next()
        #expect(announcement.what == "create Announcement")
        let id = try #require(announcement.packetData?["id"]?.string?.suffix(36))
        try await chat.post("/announcements/\(id)/receipts", #"{"type":"read"}"#, by: chat.bo)
        #expect(try await bo.next().what == "update Announcement")
        let gone = try await chat.login.send("DELETE", "/announcements/\(id)", session: chat.bo)
        #expect(gone.status == 204)
        #expect(try await bo.next().what == "delete Announcement")
        let followed = try await chat.login.send(
            "PUT", "/following/users/eve", session: chat.bo)
        #expect(followed.status == 204)
        let identity = try await bo.next()
        #expect(identity.what == "create Identity")
        #expect(identity.packetData?["metadata"]?.kind == .object)
        let renamed = try await chat.login.sendAsServer(
            "PATCH", "/apps/{app}/users/eve/identity",
            #"[{"operation":"set","property":"display_name","value":"Eve"}]"#)
        #expect(renamed.status == 204, "\(renamed.body)")
        let changed = try await bo.next()
        #expect(changed.what == "update Identity")
        #expect(
            changed.packetData?.elements.contains { operation in
                operation["property"]?.string == "display_name"
                    && operation["value"]?.string == "Eve"
            } == true)
        let unfollowed = try await chat.login.send(
            "DELETE", "/following/users/eve", session: chat.bo)
        #expect(unfollowed.status == 204)
        let end = try await bo.next()
        #expect(end.what == "delete Identity")
        #expect(end.packetData?.isNull == true)
    }

    @Test func `nothing reaches a user that does not see it (R30, 5_4)`() async throws {
        let chat = try await SocketChat.make()
        try await chat.send()
        let dee = try await chat.open(try await chat.login.session(of: "dee"))
        let bo = try await chat.open(chat.bo)
        try await chat.block("ana", by: "bo")
        try await chat.send("hidden")
        #expect(try await dee.sync().isEmpty)
        #expect(try await bo.sync().isEmpty)
        #expect(try await bo.socket.isSilent(for: 300))
        #expect(try await dee.socket.isSilent(for: 100))
    }
}
