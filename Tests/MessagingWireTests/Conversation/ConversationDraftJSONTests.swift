import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `Conversation drafts` {
    @Test(arguments: APIVersion.allCases)
    func `participants keep their order without duplicates (3_2)`(version: APIVersion) throws {
        let body = try json(#"{"participants":["cy","ana","cy","bo"]}"#)
        let draft = try ConversationDraftJSON.read(body, version, MessagingLimits())
        #expect(draft.participants.users.map(\.text) == ["cy", "ana", "bo"])
        #expect(!draft.isDistinct)
        #expect(draft.metadata == nil)
        #expect(draft.proposedID == nil)
    }

    @Test func `from 2_0 on participants are identities (1_3)`() throws {
        let body = try json(
            #"{"participants":["layer:///identities/team%2F42","layer:///identities/ana","ana"]}"#)
        let draft = try ConversationDraftJSON.read(body, .v2_0, MessagingLimits())
        #expect(draft.participants.users.map(\.text) == ["team/42", "ana"])
    }

    @Test func `before 2_0 an identity id is an ordinary user id`() throws {
        let body = try json(#"{"participants":["layer:///identities/ana"]}"#)
        let draft = try ConversationDraftJSON.read(body, .v1_1, MessagingLimits())
        #expect(draft.participants.users.map(\.text) == ["layer:///identities/ana"])
    }

    @Test func `Unicode forms of a letter are two users (ruling 7)`() throws {
        let body = try json(#"{"participants":["\u00e9","e\u0301"]}"#)
        #expect(
            try ConversationDraftJSON.read(body, .v1_0, MessagingLimits()).participants.count == 2)
    }

    @Test func `null means absent where a member is optional`() throws {
        let body = try json(
            #"{"participants":["ana"],"distinct":null,"metadata":null,"id":null}"#)
        let draft = try ConversationDraftJSON.read(body, .v3_0, MessagingLimits())
        #expect(!draft.isDistinct)
        #expect(draft.metadata == nil)
    }

    @Test func `all members are read`() throws {
        let body = try json(
            #"""
            {"participants":["ana"],"distinct":true,"metadata":{"a":{"b":"x"},"c":{}},
             "id":"LAYER","unknown":[1,2]}
            """#.replacing(
                "LAYER", with: "layer:///conversations/0D9F6A7E-3b41-4c58-8a12-6e5f4d3c2b1a"))
        let draft = try ConversationDraftJSON.read(body, .v3_0, MessagingLimits())
        #expect(draft.isDistinct)
        #expect(draft.metadata == ["a": ["b": "x"], "c": [:]])
        #expect(draft.proposedID?.uuid == "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a")
    }

    @Test(arguments: badBodies)
    func `the first error is reported (ruling 1)`(input: BadInput) throws {
        let body = try json(input.body)
        expect(input.rejection) { try ConversationDraftJSON.read(body, .v1_1, MessagingLimits()) }
        expect(input.rejection) { try ConversationDraftJSON.read(body, .v3_0, MessagingLimits()) }
    }

    static let long = String(repeating: "x", count: 129)
    static let longText = String(repeating: "x", count: 2049)
    static let many = (0..<26).map { "\"u\($0)\"" }.joined(separator: ",")
    static let deep =
        String(repeating: #"{"a":"#, count: 34) + "\"x\"" + String(repeating: "}", count: 34)

    static let badBodies: [BadInput] = [
        .missing("participants", "{}"),
        .missing("participants", #"{"participants":null,"distinct":5}"#),
        .invalid("participants", #"{"participants":{}}"#),
        .invalid("participants", #"{"participants":"ana"}"#),
        .invalid("participants", #"{"participants":5}"#),
        .invalid("participants", #"{"participants":[]}"#),
        .invalid("participants", #"{"participants":["ana",5]}"#),
        .invalid("participants", #"{"participants":["ana",null]}"#),
        .invalid("participants", #"{"participants":["ana",["bo"]]}"#),
        .invalid("participants", #"{"participants":["ana",""]}"#),
        .invalid("participants", #"{"participants":["\#(long)"]}"#),
        .invalid("participants", #"{"participants":[\#(many)],"distinct":5}"#),
        .invalid("distinct", #"{"participants":["ana"],"distinct":"true","metadata":5}"#),
        .invalid("distinct", #"{"participants":["ana"],"distinct":1}"#),
        .invalid("distinct", #"{"participants":["ana"],"distinct":{}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":5,"id":5}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":"x"}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":[]}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"a":5}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"a":true}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"a":null}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"a":["x"]}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"a":{"b":1e400}}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"":"x"}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"a.b":"x"}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"ä":"x"}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":{"a":"\#(longText)"}}"#),
        .invalid("metadata", #"{"participants":["ana"],"metadata":\#(deep)}"#),
        .invalid("id", #"{"participants":["ana"],"id":5}"#),
        .invalid("id", #"{"participants":["ana"],"id":""}"#),
        .invalid("id", #"{"participants":["ana"],"id":"0d9f6a7e"}"#),
        .invalid(
            "id",
            #"{"participants":["ana"],"id":"layer:///messages/0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"}"#
        ),
    ]

    @Test func `an identity id of 2_0 without a user is rejected`() throws {
        for bad in ["layer:///identities/", "layer:///identities/%zz", "layer:///identities/%"] {
            let body = try json(#"{"participants":["\#(bad)"]}"#)
            expect(.invalid("participants")) {
                try ConversationDraftJSON.read(body, .v2_0, MessagingLimits())
            }
        }
    }
}
