import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `Message drafts` {
    static let parts = #""parts":[{"mime_type":"a/b","body":"x"}]"#

    @Test(arguments: [
        #"{"sender":{"user_id":"ana"},\#(parts)}"#,
        #"{"sender":{"user_id":"ana","name":null},"sender_id":"bo",\#(parts)}"#,
    ])
    func `before 2_0 the sender is in sender (5_2_1)`(text: String) throws {
        let draft = try MessageDraftJSON(json(text), .v1_0).draft
        #expect(try draft.sender == .user(user("ana")))
        #expect(draft.admission == .participants)
        #expect(draft.senderProperty == "sender.user_id")
    }

    @Test(arguments: [
        #"{"sender_id":"layer:///identities/ana",\#(parts)}"#,
        #"{"sender_id":"ana","sender":{"name":"x"},\#(parts)}"#,
    ])
    func `from 2_0 on the sender is in sender_id (5_2_1)`(text: String) throws {
        let draft = try MessageDraftJSON(json(text), .v2_0).draft
        #expect(try draft.sender == .user(user("ana")))
        #expect(draft.admission == .identities)
        #expect(draft.senderProperty == "sender_id")
    }

    @Test func `each version reads the other's member when its own is absent (5_2_1)`() throws {
        let new = try MessageDraftJSON(
            json(#"{"sender_id":"layer:///identities/ana",\#(Self.parts)}"#), .v1_1)
        let old = try MessageDraftJSON(
            json(#"{"sender":{"user_id":"ana"},\#(Self.parts)}"#), .v3_0)
        #expect(new.draft.sender == old.draft.sender)
        #expect(new.draft.senderProperty == "sender_id")
        #expect(old.draft.senderProperty == "sender.user_id")
    }

    @Test func `before 2_0 a service is named in sender`() throws {
        let text = #"{"sender":{"name":"Billing"},\#(Self.parts)}"#
        #expect(try MessageDraftJSON(json(text), .v1_1).draft.sender == .named("Billing"))
    }

    @Test(arguments: [
        (#"{"mime_type":"a/b","body":"grüß"}"#, Array("grüß".utf8)),
        (#"{"mime_type":"a/b","body":""}"#, []),
        (#"{"mime_type":"a/b","body":"x","encoding":null,"content":null}"#, Array("x".utf8)),
        (#"{"mime_type":"a/b","body":"//4=","encoding":"base64"}"#, [0xFF, 0xFE]),
        (#"{"mime_type":"a/b","body":"","encoding":"base64"}"#, []),
        (#"{"mime_type":"a/b","body":"AAEC\r\nAw==\n","encoding":"base64"}"#, [0, 1, 2, 3]),
    ])
    func `a body is bytes (R25)`(part: String, bytes: [UInt8]) throws {
        #expect(try read(part: part).body == .inline(bytes))
    }

    @Test func `content takes precedence over a body (3_4)`() throws {
        let part = try read(
            part: #"""
                {"mime_type":"a/b","body":5,"encoding":7,
                 "content":{"id":"layer:///content/9C1B7D5E-2f40-4e6a-8b3c-d4e5f6a7b8c9","size":5}}
                """#)
        let id = try #require(Content.ID(uuid: "9c1b7d5e-2f40-4e6a-8b3c-d4e5f6a7b8c9"))
        #expect(part.body == .content(id, size: 5))
    }

    @Test(arguments: [
        "5e8d7c6b-4a39-4821-b7f6-0c9d8e7f6a5b",
        "layer:///messages/a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d/parts/5E8D7C6B-4a39-4821-b7f6-0c9d8e7f6a5b",
    ])
    func `a part can have its own id (3_4)`(id: String) throws {
        let part = try read(part: #"{"mime_type":"a/b","body":"","id":"\#(id)"}"#)
        #expect(part.proposedID?.uuid == "5e8d7c6b-4a39-4821-b7f6-0c9d8e7f6a5b")
    }

    @Test(arguments: [2048, 0, 1])
    func `a body of 2048 bytes is accepted (R22)`(count: Int) throws {
        let body = String(repeating: "x", count: count)
        #expect(
            try read(part: #"{"mime_type":"a/b","body":"\#(body)"}"#).body
                == .inline(Array(body.utf8)))
    }

    @Test(arguments: [
        #"{"text":"a","sound":null,"recipients":{"bo":{"text":"b"}},"other":5}"#,
        #"{"recipients":[{"user_id":"bo","title":"t"},{"recipient":"layer:///identities/cy"}]}"#,
        #"{"title-loc-args":["a"],"loc-args":[],"data":{"a":"b"},"apns":{"launch-image":"x"}}"#,
        "{}",
    ])
    func `a notification is stored unchanged (5_6)`(notification: String) throws {
        let text = #"{"sender":{"user_id":"ana"},\#(Self.parts),"notification":\#(notification)}"#
        let draft = try MessageDraftJSON(json(text), .v1_0).draft
        #expect(draft.notification == Array(notification.utf8))
    }

    @Test func `a schedule is read (5_2_1)`() throws {
        let text = #"""
            {"sender":{"user_id":"ana"},\#(Self.parts),
             "schedule":{"delay_in_seconds":300.0,"typing_indicator_in_seconds":1.5}}
            """#
        let schedule = try MessageDraftJSON(json(text), .v1_0).schedule
        #expect(schedule?.delay == 300_000)
        #expect(schedule?.typing == 1500)
    }

    private func read(part: String) throws -> MessagePart.Draft {
        let text = #"{"sender":{"user_id":"ana"},"parts":[\#(part)]}"#
        return try #require(MessageDraftJSON(json(text), .v3_0).draft.parts.first)
    }
}
