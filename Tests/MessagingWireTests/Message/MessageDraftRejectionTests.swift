import JSON
import Messaging
import MessagingWire
import Testing

@Suite struct `A rejected message` {
    @Test(arguments: senders1)
    func `for its sender before 2_0`(input: BadInput) throws {
        let body = try json(input.body)
        expect(input.rejection) { try MessageDraftJSON(body, .v1_0) }
        expect(input.rejection) { try MessageDraftJSON(body, .v1_1) }
    }

    @Test(arguments: senders2)
    func `for its sender from 2_0 on`(input: BadInput) throws {
        let body = try json(input.body)
        expect(input.rejection) { try MessageDraftJSON(body, .v2_0) }
        expect(input.rejection) { try MessageDraftJSON(body, .v3_0) }
    }

    @Test(arguments: parts)
    func `for its parts`(input: BadInput) throws {
        try expectRefused(input, #""parts":\#(input.body),"notification":5,"schedule":5,"id":5"#)
    }

    @Test(arguments: onePart)
    func `for a part after a valid one`(input: BadInput) throws {
        try expectRefused(
            input, #""parts":[{"mime_type":"a/b","body":"x"},\#(input.body)],"notification":5"#)
    }

    @Test(arguments: ends)
    func `for other members`(input: BadInput) throws {
        try expectRefused(input, #""parts":[{"mime_type":"a/b","body":"x"}],\#(input.body)"#)
    }

    private func expectRefused(
        _ input: BadInput, _ members: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let body = try json(#"{"sender":{"user_id":"ana"},\#(members)}"#)
        for version in APIVersion.allCases {
            expect(input.rejection, sourceLocation: sourceLocation) {
                try MessageDraftJSON(body, version)
            }
        }
    }

    static let long = String(repeating: "x", count: 129)
    static let tooLong = String(repeating: "x", count: 2049)
    static let content = "layer:///content/9c1b7d5e-2f40-4e6a-8b3c-d4e5f6a7b8c9"

    static let senders1: [BadInput] = [
        .missing("sender", "{}"),
        .missing("sender", #"{"sender":null,"parts":5}"#),
        .invalid("sender", #"{"sender":5}"#),
        .invalid("sender", #"{"sender":"ana","parts":5}"#),
        .invalid("sender", #"{"sender":[],"parts":5}"#),
        .invalid("sender", #"{"sender":{"user_id":"ana","name":"Ana"}}"#),
        .invalid("sender", #"{"sender":{"user_id":5,"name":5}}"#),
        .missing("sender.user_id", #"{"sender":{}}"#),
        .missing("sender.user_id", #"{"sender":{"user_id":null,"name":null}}"#),
        .invalid("sender.user_id", #"{"sender":{"user_id":5}}"#),
        .invalid("sender.user_id", #"{"sender":{"user_id":""}}"#),
        .invalid("sender.user_id", #"{"sender":{"user_id":"\#(long)"}}"#),
        .invalid("sender.name", #"{"sender":{"name":""}}"#),
        .invalid("sender.name", #"{"sender":{"name":5}}"#),
        .invalid("sender.name", #"{"sender":{"name":"\#(long)"}}"#),
        .invalid("sender_id", #"{"sender_id":5}"#),
    ]

    static let senders2: [BadInput] = [
        .missing("sender_id", "{}"),
        .missing("sender_id", #"{"sender_id":null,"parts":5}"#),
        .invalid("sender_id", #"{"sender_id":5,"sender":{"user_id":"ana"}}"#),
        .invalid("sender_id", #"{"sender_id":""}"#),
        .invalid("sender_id", #"{"sender_id":"layer:///identities/%"}"#),
        .invalid("sender_id", #"{"sender_id":"\#(long)"}"#),
        .invalid("sender", #"{"sender":5}"#),
        .invalid("sender.name", #"{"sender":{"name":"Billing"}}"#),
        .missing("sender.user_id", #"{"sender":{}}"#),
    ]

    static let parts: [BadInput] = [
        .missing("parts", "null"), .invalid("parts", "5"), .invalid("parts", "{}"),
        .invalid("parts", "[]"), .invalid("parts", "[5]"), .invalid("parts", "[null]"),
        .invalid(
            "parts",
            "["
                + repeatElement(#"{"mime_type":"a/b","body":""}"#, count: 1001)
                .joined(separator: ",") + "]"),
    ]

    static let onePart: [BadInput] = [
        .missing("parts.mime_type", "{}"),
        .missing("parts.mime_type", #"{"mime_type":null,"body":5}"#),
        .invalid("parts.mime_type", #"{"mime_type":5}"#),
        .invalid("parts.mime_type", #"{"mime_type":""}"#),
        .invalid("parts.mime_type", #"{"mime_type":"text"}"#),
        .invalid("parts.mime_type", #"{"mime_type":"text/"}"#),
        .invalid("parts.mime_type", #"{"mime_type":"/plain","body":5}"#),
        .missing("parts.body", #"{"mime_type":"a/b","encoding":5}"#),
        .missing("parts.body", #"{"mime_type":"a/b","body":null,"content":null}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":5,"encoding":5}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":["x"]}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"\#(tooLong)"}"#),
        .invalid("parts.encoding", #"{"mime_type":"a/b","body":"x","encoding":"gzip"}"#),
        .invalid("parts.encoding", #"{"mime_type":"a/b","body":"x","encoding":"BASE64"}"#),
        .invalid("parts.encoding", #"{"mime_type":"a/b","body":"x","encoding":5}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"x","encoding":"base64"}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"abc","encoding":"base64"}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"ab=c","encoding":"base64"}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"a===","encoding":"base64"}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"====","encoding":"base64"}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"ab_-","encoding":"base64"}"#),
        .invalid("parts.body", #"{"mime_type":"a/b","body":"ab cd","encoding":"base64"}"#),
        .invalid("parts.content", #"{"mime_type":"a/b","content":5}"#),
        .invalid("parts.content", #"{"mime_type":"a/b","content":{}}"#),
        .invalid("parts.content", #"{"mime_type":"a/b","content":{"id":5}}"#),
        .invalid("parts.content", #"{"mime_type":"a/b","content":{"id":"x"}}"#),
        .invalid("parts.content", #"{"mime_type":"a/b","content":{"id":"\#(content)","size":-1}}"#),
        .invalid(
            "parts.content", #"{"mime_type":"a/b","content":{"id":"\#(content)","size":"5"}}"#),
        .invalid(
            "parts.content", #"{"mime_type":"a/b","content":{"id":"\#(content)","size":1e3}}"#),
        .invalid("parts.id", #"{"mime_type":"a/b","body":"","id":5}"#),
        .invalid("parts.id", #"{"mime_type":"a/b","body":"","id":"0"}"#),
        .invalid("parts.id", #"{"mime_type":"a/b","body":"","id":""}"#),
    ]

    static let ends: [BadInput] = [
        .invalid("notification", #""notification":5,"schedule":5"#),
        .invalid("notification", #""notification":[]"#),
        .invalid("notification", #""notification":{"text":5}"#),
        .invalid("notification", #""notification":{"loc-args":[5]}"#),
        .invalid("notification", #""notification":{"data":{"a":5}}"#),
        .invalid("notification", #""notification":{"recipients":5}"#),
        .invalid("notification", #""notification":{"recipients":[{"text":"x"}]}"#),
        .invalid("notification", #""notification":{"recipients":{"bo":{"text":5}}}"#),
        .invalid("schedule", #""schedule":5,"id":5"#),
        .invalid("schedule", #""schedule":[]"#),
        .missing("schedule.delay_in_seconds", #""schedule":{}"#),
        .invalid("schedule.delay_in_seconds", #""schedule":{"delay_in_seconds":"5"}"#),
        .invalid("schedule.delay_in_seconds", #""schedule":{"delay_in_seconds":0.9}"#),
        .invalid("schedule.delay_in_seconds", #""schedule":{"delay_in_seconds":300.1}"#),
        .invalid("schedule.delay_in_seconds", #""schedule":{"delay_in_seconds":1e999}"#),
        .invalid(
            "schedule.typing_indicator_in_seconds",
            #""schedule":{"delay_in_seconds":5,"typing_indicator_in_seconds":6},"id":5"#),
        .invalid("id", #""id":5"#),
        .invalid("id", #""id":"x""#),
    ]
}
