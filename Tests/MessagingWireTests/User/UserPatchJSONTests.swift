import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `A patch of a user` {
    @Test func `blocks have the version's names, mixed with suspension (5_9, 5_11)`() throws {
        let older = try json(
            #"""
            [{"operation":"add","property":"blocks","value":"layer:///identities/bo"},
             {"operation":"set","property":"suspended","value":true},
             {"operation":"set","property":"blocks","value":["bo","cy","bo"]}]
            """#)
        #expect(
            try UserPatchJSON.read(older, .v1_1) == [
                .block(user("layer:///identities/bo")), .suspend(true),
                .setBlocks([user("bo"), user("cy")]),
            ])
        let newer = try json(
            #"""
            [{"operation":"add","property":"blocks","id":"layer:///identities/team%2F42"},
             {"operation":"remove","property":"blocks","value":"bo"},
             {"operation":"set","property":"blocks","value":["layer:///identities/cy"]}]
            """#)
        #expect(
            try UserPatchJSON.read(newer, .v2_0) == [
                .block(user("team/42")), .unblock(user("bo")), .setBlocks([user("cy")]),
            ])
    }

    @Test func `a patch can name 10,000 users and no more (proposed)`() throws {
        let names = (0..<10_000).map { "\"u\($0)\"" }.joined(separator: ",")
        let set = #"{"operation":"set","property":"blocks","value":[\#(names)]}"#
        #expect(try UserPatchJSON.read(json(set), .v1_0).flatMap(\.named).count == 10_000)
        let more = #"[\#(set),{"operation":"add","property":"blocks","value":"one more"}]"#
        expect(.invalid("blocks")) { try UserPatchJSON.read(json(more), .v1_0) }
    }

    @Test(arguments: badOperations, [APIVersion.v1_1, .v3_0])
    func `the first error is reported (ruling 5)`(
        input: BadInput, version: APIVersion
    ) throws {
        expect(input.rejection) { try UserPatchJSON.read(json(input.body), version) }
    }

    private static let long = String(repeating: "é", count: 129)

    static let badOperations: [BadInput] =
        [
            .missing("operation", "{}"),
            .missing("property", #"{"operation":"add"}"#),
            .invalid("operation", #"{"operation":"replace","property":"blocks","value":"bo"}"#),
            .invalid("blocks", #"{"operation":"delete","property":"blocks"}"#),
            .invalid("blocks", #"{"operation":"add","property":"blocks","index":0}"#),
            .missing("value", #"{"operation":"add","property":"blocks","value":null}"#),
            .invalid("value", #"{"operation":"add","property":"blocks","value":["bo"]}"#),
            .invalid("blocks", #"{"operation":"add","property":"blocks","value":""}"#),
            .invalid("blocks", #"{"operation":"add","property":"blocks","value":"\#(long)"}"#),
            .invalid("value", #"{"operation":"set","property":"blocks","value":"bo"}"#),
            .invalid("value", #"{"operation":"set","property":"blocks","value":["bo",5]}"#),
            .invalid("blocks", #"{"operation":"set","property":"blocks","value":[""]}"#),
            .missing("value", #"{"operation":"set","property":"suspended"}"#),
        ]
        + ["0", "\"true\"", "[]", "{}"].map { value in
            BadInput.invalid(
                "value", #"{"operation":"set","property":"suspended","value":\#(value)}"#)
        }
        + ["add", "remove", "delete"].map { verb in
            BadInput.invalid(
                "suspended", #"{"operation":"\#(verb)","property":"suspended","value":true}"#)
        }
        + ["", "block", "blocks.bo", "identity", "suspended.x"].map { name in
            BadInput.invalid(
                "property", #"{"operation":"set","property":"\#(name)","value":true}"#)
        }
}
