import Messaging
import MessagingWire
import Testing

/// How an erasure finds a user in JSON texts (X16).
@Suite struct `Bodies with an erased user` {
    @Test(arguments: [
        #"{"sender":{"user_id":"ana"}}"#,
        #"{"participants":["bo","ana"]}"#,
        #"{"recipient_status":{"ana":"read"}}"#,
        #"{"recipient_status":{"layer:///identities/ana":"read"}}"#,
        #"{"id":"layer:///identities/ana"}"#,
        #"{"url":"https://a.example/apps/1/users/ana/conversations/2"}"#,
        #"[{"a":[[{"user_id":"\u0061na"}]]}]"#,
        // It cannot be read.
        #"{"user_id":"ana""#,
    ])
    func `name the user by id, identity or URL`(json: String) throws {
        let user = try #require(UserID("ana"))
        #expect(ErasedBodyJSON.names(Array(json.utf8), user))
    }

    @Test(arguments: [
        #"{"sender":{"user_id":"anabel"}}"#,
        #"{"id":"layer:///identities/ana%20b"}"#,
        #"{"id":"layer:///identities/anabel"}"#,
        #"{"parts":[{"body":"ana","mime_type":"text/plain"}],"metadata":{"name":"ana"}}"#,
        #"{"user_id":"Ana"}"#, "", "no JSON: ana",
    ])
    func `do not name the user by other ids, or in texts that others wrote`(json: String) throws {
        let user = try #require(UserID("ana"))
        #expect(!ErasedBodyJSON.names(Array(json.utf8), user))
    }

    @Test func `compare ids as bytes (ruling 7)`() throws {
        let user = try #require(UserID("caf\u{E9}"))
        #expect(ErasedBodyJSON.names(Array("[\"caf\u{E9}\"]".utf8), user))
        #expect(ErasedBodyJSON.names(Array("[\"/users/caf%C3%A9\"]".utf8), user))
        #expect(!ErasedBodyJSON.names(Array("[\"cafe\u{301}\"]".utf8), user))
    }

    @Test func `name the user in answers of receivers`() throws {
        let user = try #require(UserID("a\"b"))
        func names(_ text: String) -> Bool { ErasedBodyJSON.names(inText: Array(text.utf8), user) }
        #expect(names(#"{"user_id":"a\"b"}"#))
        #expect(names(#"unknown user "a\"b""#))
        #expect(!names(#"{"user_id":"a\"bc"}"#))
        #expect(!names(#"a\"b"#))
    }

    @Test func `name the user in headers`() throws {
        let user = try #require(UserID("a b"))
        #expect(
            ErasedBodyJSON.names(
                inText: Array("Location: /apps/1/users/a%20b/messages/2".utf8), user))
        #expect(!ErasedBodyJSON.names(inText: Array("/users/a%20bc/".utf8), user))
    }

    @Test func `are reduced to the event without its actor`() {
        let body =
            #"{"event":{"created_at":"2026-11-29T00:00:00.000Z","type":"message.sent","id":"1","actor":{"user_id":"ana"}},"#
            + #""message":{"sender":{"user_id":"ana"}}}"#
        #expect(
            String(decoding: ErasedBodyJSON.delivery(Array(body.utf8)), as: UTF8.self)
                == #"{"event":{"created_at":"2026-11-29T00:00:00.000Z","type":"message.sent","id":"1"},"erased":true}"#
        )
        #expect(ErasedBodyJSON.delivery([]) == Array(#"{"erased":true}"#.utf8))
    }
}
