import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `A patch of a conversation` {
    @Test func `operations are read in order (4)`() throws {
        let body = try json(
            #"""
            [{"operation":"add","property":"participants","value":"bo"},
             {"operation":"remove","property":"participants","value":"ana"},
             {"operation":"set","property":"participants","value":["ana","cy","ana"]},
             {"operation":"set","property":"metadata.a.b","value":"x"},
             {"operation":"set","property":"metadata","value":{"c":{}}},
             {"operation":"delete","property":"metadata.a"},
             {"operation":"delete","property":"metadata"}]
            """#)
        #expect(
            try ConversationPatchJSON.read(body, .v1_0, MessagingLimits()) == [
                .addParticipant(user("bo")), .removeParticipant(user("ana")),
                .setParticipants([user("ana"), user("cy")]),
                .setMetadata(path: ["a", "b"], "x"), .setMetadata(path: [], ["c": [:]]),
                .deleteMetadata(path: ["a"]), .deleteMetadata(path: []),
            ])
    }

    @Test func `a single object is an array of one (4)`() throws {
        let body = try json(#"{"operation":"delete","property":"metadata.a"}"#)
        #expect(
            try ConversationPatchJSON.read(body, .v1_0, MessagingLimits()) == [
                .deleteMetadata(path: ["a"])
            ])
    }

    @Test func `an empty array is valid (4)`() throws {
        #expect(try ConversationPatchJSON.read(json("[]"), .v3_0, MessagingLimits()).isEmpty)
    }

    @Test(arguments: [
        #"{"operation":"add","property":"participants","id":"layer:///identities/team%2F42"}"#,
        #"{"operation":"add","property":"participants","value":"layer:///identities/team%2F42"}"#,
        #"{"operation":"add","property":"participants","value":"team/42"}"#,
        #"{"operation":"add","property":"participants","id":"layer:///identities/team%2F42","value":5}"#,
        #"{"operation":"add","property":"participants","index":0,"value":"team/42"}"#,
    ])
    func `from 2_0 on the operand is an identity (5_1_5)`(text: String) throws {
        let operations = try ConversationPatchJSON.read(json(text), .v2_0, MessagingLimits())
        #expect(operations == [.addParticipant(try user("team/42"))])
    }

    @Test(arguments: ["5", "\"x\"", "null", "true", "[5]", "[[]]", "[null]"])
    func `elements other than objects are no patch`(text: String) throws {
        #expect(try !PatchJSON.isPatch(json(text)))
    }

    @Test(arguments: badOperations, [APIVersion.v1_1, .v3_0])
    func `the first error is reported (ruling 5)`(
        input: BadInput, version: APIVersion
    ) throws {
        let body = try json("[\(input.body)]")
        expect(input.rejection) { try ConversationPatchJSON.read(body, version, MessagingLimits()) }
    }

    @Test func `a path of half a million keys is rejected, not built (R42)`() throws {
        let path = "metadata" + String(repeating: ".a", count: 500_000)
        let body = try json(#"{"operation":"set","property":"\#(path)","value":"x"}"#)
        expect(.invalid(path)) { try ConversationPatchJSON.read(body, .v1_0, MessagingLimits()) }
    }

    @Test func `more users than the limit are rejected`() throws {
        let add = #"{"operation":"add","property":"participants","value":"u"}"#
        let many = "[" + repeatElement(add, count: 1001).joined(separator: ",") + "]"
        let names = repeatElement("\"u\"", count: 1001).joined(separator: ",")
        let set = #"{"operation":"set","property":"participants","value":[\#(names)]}"#
        for text in [many, set] {
            let body = try json(text)
            expect(.invalid("participants")) {
                try ConversationPatchJSON.read(body, .v1_0, MessagingLimits())
            }
        }
    }

    static let longText = String(repeating: "x", count: 2049)
    static let deepPath = "metadata" + String(repeating: ".a", count: 34)
    static let escaped = #"metadata.a\.b"#

    static let badOperations: [BadInput] = [
        .missing("operation", "{}"),
        .missing("operation", #"{"operation":null,"property":5}"#),
        .invalid("operation", #"{"operation":5}"#),
        .invalid("operation", #"{"operation":"replace","property":"metadata","value":{}}"#),
        .invalid("operation", #"{"operation":"ADD"}"#),
        .missing("property", #"{"operation":"set"}"#),
        .missing("property", #"{"operation":"set","property":null}"#),
        .invalid("property", #"{"operation":"set","property":5}"#),
        .invalid("property", #"{"operation":"set","property":""}"#),
        .invalid("property", #"{"operation":"set","property":"distinct","value":true}"#),
        .invalid("property", #"{"operation":"set","property":"Metadata","value":{}}"#),
        .invalid("property", #"{"operation":"set","property":"metadata\\.a","value":"x"}"#),
        .invalid("property", #"{"operation":"add","property":"participants.0","value":"x"}"#),
        .missing("value", #"{"operation":"add","property":"participants"}"#),
        .missing("value", #"{"operation":"remove","property":"participants","value":null}"#),
        .missing("value", #"{"operation":"set","property":"participants"}"#),
        .missing("value", #"{"operation":"set","property":"metadata.a"}"#),
        .missing("value", #"{"operation":"set","property":"metadata.a","value":null}"#),
        .invalid("value", #"{"operation":"add","property":"participants","value":["x"]}"#),
        .invalid("value", #"{"operation":"add","property":"participants","value":5}"#),
        .invalid("value", #"{"operation":"set","property":"participants","value":"x"}"#),
        .invalid("value", #"{"operation":"set","property":"participants","value":[5]}"#),
        .invalid("value", #"{"operation":"set","property":"metadata.a","value":5}"#),
        .invalid("value", #"{"operation":"set","property":"metadata.a","value":{"b":[]}}"#),
        .invalid("value", #"{"operation":"set","property":"metadata","value":"x"}"#),
        .invalid("participants", #"{"operation":"add","property":"participants","value":""}"#),
        .invalid("participants", #"{"operation":"set","property":"participants","value":[""]}"#),
        .invalid("participants", #"{"operation":"add","property":"participants","index":0}"#),
        .invalid("participants", #"{"operation":"delete","property":"participants"}"#),
        .invalid("metadata", #"{"operation":"add","property":"metadata","value":{}}"#),
        .invalid("metadata.a", #"{"operation":"remove","property":"metadata.a","value":"x"}"#),
        .invalid("metadata.a", #"{"operation":"delete","property":"metadata.a","index":0}"#),
        .invalid("metadata.a", #"{"operation":"set","property":"metadata.a","index":0}"#),
        .invalid("metadata.", #"{"operation":"set","property":"metadata.","value":"x"}"#),
        .invalid("metadata..a", #"{"operation":"delete","property":"metadata..a"}"#),
        .invalid("metadata.a b", #"{"operation":"set","property":"metadata.a b","value":"x"}"#),
        .invalid(escaped, #"{"operation":"set","property":"metadata.a\\.b","value":"x"}"#),
        .invalid("metadata.a", #"{"operation":"set","property":"metadata.a","value":{"b.c":"x"}}"#),
        .invalid(
            "metadata.a", #"{"operation":"set","property":"metadata.a","value":"\#(longText)"}"#),
        .invalid(deepPath, #"{"operation":"set","property":"\#(deepPath)","value":"x"}"#),
    ]
}
