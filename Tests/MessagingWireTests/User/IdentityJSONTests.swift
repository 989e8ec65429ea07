import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `An identity` {
    let ana: UserID

    init() throws {
        ana = try user("ana")
    }

    @Test func `members left out or null are absent (3_7)`() throws {
        let body = try json(#"{"display_name":"Ana","email_address":null,"user_id":"other"}"#)
        let identity = try IdentityJSON.read(body, of: ana)
        #expect(identity == Identity(userID: try user("ana"), displayName: "Ana"))
    }

    @Test(arguments: [
        #""identity_type":"bot""#, #""identity_type":"Bot""#, #""type":"BOT""#,
        #""identity_type":"bot","type":"user""#, #""identity_type":null,"type":"bot""#,
    ])
    func `the kind has two member names and is read in any case (3_7)`(member: String) throws {
        let body = try json(#"{"display_name":"Ana",\#(member)}"#)
        #expect(try IdentityJSON.read(body, of: ana).kind == .bot)
    }

    @Test(arguments: Identity.Member.allCases.filter { $0.limit != nil })
    func `a text is limited by its Unicode scalars (3_7, ruling 7)`(
        member: Identity.Member
    ) throws {
        let limit = try #require(member.limit)
        for letter in ["x", "é", "e\u{301}", "🦊", "👩‍🚀"] {
            let scalars = letter.unicodeScalars.count
            let text =
                String(repeating: letter, count: limit / scalars)
                + String(repeating: "x", count: limit % scalars)
            let read = try IdentityJSON.read(body(member, text), of: ana)
            #expect(read[member] == text)
            expect(.invalid(member.rawValue)) {
                try IdentityJSON.read(body(member, text + "x"), of: ana)
            }
        }
    }

    @Test func `a public key has no limit (3_7)`() throws {
        let key = String(repeating: "k", count: 500_000)
        let read = try IdentityJSON.read(body(.publicKey, key), of: ana)
        #expect(read[.publicKey] == key)
    }

    @Test(arguments: badMembers) func `the first error is reported (ruling 1)`(
        input: BadInput
    ) throws {
        expect(input.rejection) { try IdentityJSON.read(json(input.body), of: ana) }
    }

    @Test func `16 keys of metadata are accepted (R49)`() throws {
        let keys = (1...16).map { "\"k-_\($0)\":\"\"" }.joined(separator: ",")
        let body = try json(#"{"display_name":"Ana","metadata":{\#(keys)}}"#)
        #expect(try IdentityJSON.read(body, of: ana).metadata.count == 16)
    }

    private func body(_ member: Identity.Member, _ text: String) throws -> JSONValue {
        member == .displayName
            ? try json(#"{"display_name":"\#(text)"}"#)
            : try json(#"{"display_name":"Ana","\#(member.rawValue)":"\#(text)"}"#)
    }

    static let badMembers: [BadInput] =
        [
            .missing("display_name", "{}"),
            .missing("display_name", #"{"display_name":null,"first_name":5}"#),
            .missing("display_name", #"{"Display_name":"Ana"}"#),
            .invalid("display_name", #"{"display_name":""}"#),
            .invalid("display_name", #"{"display_name":"","metadata":5}"#),
        ]
        + Identity.Member.allCases.flatMap { member in
            ["5", "true", "[]", "{}", "12345678901234567890"].map { value in
                BadInput.invalid(
                    member.rawValue,
                    member == .displayName
                        ? #"{"display_name":\#(value)}"#
                        : #"{"display_name":"Ana","\#(member.rawValue)":\#(value)}"#)
            }
        }
        + ["5", "\"\"", "\"robot\"", "\"users\"", "[]"].flatMap { value in
            ["identity_type", "type"].map { name in
                BadInput.invalid(name, #"{"display_name":"Ana","\#(name)":\#(value)}"#)
            }
        }
        + [
            "5", "[]", "\"x\"", #"{"a":5}"#, #"{"a":null}"#, #"{"a":{}}"#, #"{"a":[]}"#,
            #"{"":"x"}"#, #"{"é":"x"}"#, #"{"a.b":"x"}"#, #"{"a b":"x"}"#,
            #"{"a":"\#(String(repeating: "é", count: 1025))"}"#,
            "{\((1...17).map { "\"k\($0)\":\"\"" }.joined(separator: ","))}",
        ].map { value in
            BadInput.invalid("metadata", #"{"display_name":"Ana","metadata":\#(value)}"#)
        }
}

@Suite struct `A patch of an identity` {
    @Test func `operations are read in order (5_7)`() throws {
        let body = try json(
            #"""
            [{"operation":"set","property":"display_name","value":"Ana"},
             {"operation":"set","property":"last_name","value":""},
             {"operation":"set","property":"identity_type","value":"Bot"},
             {"operation":"set","property":"type","value":"user"},
             {"operation":"set","property":"metadata","value":{"a":"b"}},
             {"operation":"set","property":"metadata.c","value":""},
             {"operation":"delete","property":"metadata.a"},
             {"operation":"delete","property":"metadata"}]
            """#)
        #expect(
            try IdentityPatchJSON.read(body) == [
                .set(.displayName, "Ana"), .set(.lastName, ""), .setKind(.bot), .setKind(.user),
                .setMetadata(["a": "b"]), .setMetadataKey("c", ""), .deleteMetadataKey("a"),
                .setMetadata([:]),
            ])
    }

    @Test(arguments: badOperations) func `the first error is reported (ruling 5)`(
        input: BadInput
    ) throws {
        expect(input.rejection) { try IdentityPatchJSON.read(json(input.body)) }
    }

    static let badOperations: [BadInput] =
        [
            .missing("operation", #"{"property":"first_name"}"#),
            .invalid("operation", #"{"operation":"replace","property":"first_name"}"#),
            .missing("property", #"{"operation":"set"}"#),
            .invalid("property", #"{"operation":"set","property":5}"#),
            .invalid("display_name", set("display_name", "\"\"")),
            .invalid("display_name", #"{"operation":"delete","property":"display_name"}"#),
            .invalid("first_name", #"{"operation":"add","property":"first_name","value":"A"}"#),
            .invalid(
                "phone_number", set("phone_number", "\"\(String(repeating: "1", count: 33))\"")),
            .missing("value", #"{"operation":"set","property":"first_name"}"#),
            .missing("value", set("first_name", "null")),
            .invalid("value", set("first_name", "5")),
            .invalid("identity_type", set("identity_type", "\"robot\"")),
            .invalid("value", set("identity_type", "{}")),
            .invalid("identity_type", #"{"operation":"delete","property":"identity_type"}"#),
            .invalid("value", set("metadata", "\"x\"")),
            .invalid("value", set("metadata", #"{"a":{}}"#)),
            .invalid("metadata", set("metadata", #"{"é":"x"}"#)),
            .invalid("value", set("metadata.a", "{}")),
            .invalid("metadata.a.b", set("metadata.a.b", "\"x\"")),
            .invalid("metadata.", set("metadata.", "\"x\"")),
            .invalid(#"metadata.a\.b"#, set(#"metadata.a\\.b"#, "\"x\"")),
            .invalid("metadata.a", #"{"operation":"remove","property":"metadata.a","value":"x"}"#),
            .invalid("metadata.a", #"{"operation":"delete","property":"metadata.a","index":0}"#),
        ]
        + ["id", "url", "user_id", "", "first_name.x", "Metadata", "conversation"].map { name in
            BadInput.invalid("property", set(name, "\"x\""))
        }

    private static func set(_ property: String, _ value: String) -> String {
        #"{"operation":"set","property":"\#(property)","value":\#(value)}"#
    }
}
