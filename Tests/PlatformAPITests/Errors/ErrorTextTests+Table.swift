import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

// At least one case for each rule: the invalid member, the message, and a request that causes it.
extension `Error texts` {
    static let rules = conversationRules + messageRules + queryRules + sessionRules

    private static let sessionRules: [Case] = [
        .invalid(
            .providerName, "name",
            "`name` must be a string of 1 to 128 characters without U+0000.",
            .init(line: "POST /providers", body: #"{"name":""}"#)),
        .invalid(
            .providerKeyText, "public_key",
            "`public_key` must be a public key in PEM form: RSA of 2,048 bits or more, P-256 or Ed25519.",
            .init(line: "POST /providers/{C}/keys", body: #"{"public_key":5}"#)),
        .invalid(
            .providerKeyProperty, "property",
            "`property` of a key's patch must be `disabled`; `name` is not known.",
            .init(
                line: "PATCH /providers/{C}/keys/{C}",
                body: #"{"operation":"set","property":"name","value":true}"#)),
        .invalid(
            .providerKeyDisabled, "disabled", "`disabled` must be `true` or `false`.",
            .init(line: "PATCH /providers/{C}/keys/{C}", body: #"{"disabled":5}"#)),
        .invalid(
            .identityTokenText, "identity_token",
            "`identity_token` must be a string: the identity token that the application's own server signed.",
            .init(line: "POST /sessions", body: #"{"identity_token":5}"#, isOfClient: true)),
        .invalid(
            .sessionUser, "user_id",
            "`user_id` must be the id of the user, 1 to 128 characters without U+0000 and not `.` or `..`.",
            .init(line: "POST /dev/login", body: #"{"user_id":5}"#, isOfClient: true)),
        .invalid(
            .receiptPositions, "positions",
            "`positions` must be a string of positions such as `1-40,42`, ascending and at most 1000 intervals.",
            .init(
                line: "POST /conversations/{C}/receipts", body: #"{"type":"read","positions":5}"#,
                isOfClient: true)),
        .invalid(
            .deviceType, "type", "`type` must be `apns` or `gcm`.",
            .init(line: "POST /push_tokens", body: #"{"type":"fax"}"#, isOfClient: true)),
        .invalid(
            .deviceToken, "token",
            "`token` must be a string of 1 to 4,096 visible ASCII characters.",
            .init(
                line: "POST /push_tokens", body: #"{"type":"gcm","token":"a b"}"#, isOfClient: true)
        ),
        .invalid(
            .deviceText, "device_id",
            "`device_id` must be a string of 1 to 256 characters without U+0000.",
            .init(
                line: "POST /push_tokens", body: #"{"type":"gcm","token":"a","device_id":5}"#,
                isOfClient: true)),
        .invalid(
            .feedCursor, "after",
            "`after` must be a `cursor` that this server has sent, or be left out to receive everything.",
            .init(line: "GET /events?after=x", version: "3.0", isOfClient: true)),
        .invalid(
            .feedHistory, "history",
            "`history` must be a whole number from 0, `unread` or `all`.",
            .init(line: "GET /events?history=x", version: "3.0", isOfClient: true)),
        .invalid(
            .typingAction, "action",
            "`action` must be `started`, `paused` or `finished`; `sings` is not known.",
            .init(
                line: "POST /conversations/{C}/typing", body: #"{"action":"sings"}"#,
                isOfClient: true)),
        .invalid(
            .presenceStatus, "status",
            "`status` must be `available`, `busy`, `away`, `offline` or `invisible`, or `auto` for the last one; `asleep` is not known.",
            .init(
                line: "PUT /presence", body: #"{"status":"asleep"}"#, version: "3.0",
                isOfClient: true)),
    ]

    /// Errors other than invalid members.
    static let others: [Case] = [
        .other(
            401,
            "The request has no `Authorization` header; send `Authorization: Bearer {token}`.",
            .init(line: "GET /events", authorization: "")),
        .other(
            401,
            "The scheme of the `Authorization` header must be `Bearer`, followed by a token.",
            .init(line: "GET /events", authorization: "Basic x")),
        .other(
            401,
            "The `Authorization` header must be `Bearer`, one space and one token of at most 4,089 characters.",
            .init(line: "GET /events", authorization: "Bearer a b")),
        .other(
            401,
            "The token is unknown, revoked or expired.",
            .init(line: "GET /events", authorization: "Bearer {expired_token}")),
        .other(
            403,
            "The token has the scope `read`; this operation needs `write`.",
            .init(line: "POST /conversations", body: "{}", authorization: "Bearer {read_token}")),
        .other(
            405,
            "PUT is not offered here; the path offers GET, HEAD, POST, OPTIONS.",
            .init(line: "PUT /conversations", body: "{}")),
        .other(
            413,
            "The request body is too large: the limit here is 1,048,576 bytes; large parts of messages are uploaded as content (POST …/content).",
            .init(line: "POST /conversations", body: #"\#(text((1 << 20) + 1))"#)),
        .other(
            400,
            "The body is a form; send JSON with `Content-Type: application/json`.",
            .init(
                line: "POST /conversations",
                body: "participants=ana&distinct=true",
                contentType: "application/x-www-form-urlencoded")),
        .other(
            400,
            "The body is a form; send JSON with `Content-Type: application/json`.",
            .init(
                line: "POST /conversations", body: "--b\r\n",
                contentType: "multipart/form-data; boundary=b")),
        .other(
            400,
            "The body is not valid JSON: byte 17: unexpected ']'.",
            .init(
                line: "POST /conversations", body: #"{"participants": ]}"#,
                contentType: "application/x-www-form-urlencoded")),
        .other(
            400,
            "The body is not valid JSON: byte 16: the document ends too early.",
            .init(line: "POST /conversations", body: #"{"participants":"#)),
        .other(
            400,
            "The body must be a JSON object.",
            .init(line: "POST /conversations", body: "[]")),
        .other(
            400,
            "The body must be a JSON array.",
            .init(line: "POST /users/ana/following", body: "{}")),
        .other(
            400,
            #"The body must be an array of operations such as {"operation":"set","property":"metadata.topic","value":"rent"}."#,
            .init(line: "PATCH /conversations/{C}", body: #""x""#)),
        .other(
            406,
            #"Invalid Content-Type header; must be application/vnd.layer-patch+json, with operations such as {"operation":"set","property":"metadata.topic","value":"rent"} instead of JSON Patch"#,
            .init(
                line: "PATCH /conversations/{C}",
                body: "[]",
                contentType: "application/json-patch+json")),
        .other(
            406,
            "Invalid Content-Type header; must be application/vnd.layer-patch+json",
            .init(line: "PATCH /conversations/{C}", body: "[]", contentType: "text/plain")),
        .other(
            422, property: "operation",
            #"Object is missing required member 'operation'; operations are such as {"operation":"set","property":"metadata.topic","value":"rent"}, not those of JSON Patch"#,
            .init(
                line: "PATCH /conversations/{C}",
                body: #"[{"op":"replace","path":"/metadata/topic","value":"rent"}]"#)),
        .other(
            422, property: "property",
            #"Object is missing required member 'property'; operations are such as {"operation":"set","property":"metadata.topic","value":"rent"}, not those of JSON Patch"#,
            .init(
                line: "PATCH /conversations/{C}",
                body: #"[{"operation":"set","path":"/metadata/topic","value":"rent"}]"#)),
        .other(
            422,
            "The last part of a message cannot be deleted; delete the message, or add a part first.",
            .init(line: "DELETE /conversations/{C}/messages/{M}/parts/0", version: "3.0")),
        .other(
            422,
            "Exports need a public key to be encrypted with; set one with PUT …/export_security.",
            .init(line: "POST /exports")),
        .other(
            422,
            "A historical export was requested less than 24 hours ago; request the next one later.",
            .init(line: "POST /exports", prepare: exportOnce)),
        .other(
            422, property: "parts.mime_typ",
            "`parts.mime_typ` is not known here; did you mean `mime_type`?",
            .init(
                line: "POST /conversations/{C}/messages",
                body: #"{"sender_id":"ana","parts":[{"mime_typ":"a/b","body":"x"}]}"#,
                version: "3.0",
                fields: [("Prefer", "handling=strict")])),
        .other(
            422, property: "colour",
            "`colour` is not known here; known are `participants`, `distinct`, `metadata`, `id`.",
            .init(
                line: "POST /conversations",
                body: #"{"participants":["ana"],"colour":"red"}"#,
                version: "3.0",
                fields: [("Prefer", "handling=strict")])),
    ]

    // MARK: - Values of cases

    static let webhooks = "application/vnd.layer.webhooks+json; version=1.0"

    static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    static func repeated(_ count: Int, _ text: String) -> String {
        Array(repeating: text, count: count).joined(separator: ",")
    }

    static func users(_ count: Int) -> String {
        (0..<count).map { number in "\"u\(number)\"" }.joined(separator: ",")
    }

    static func keys(_ count: Int) -> String {
        (0..<count).map { number in "\"k\(number)\":\"x\"" }.joined(separator: ",")
    }

    static func nested(_ levels: Int) -> String {
        String(repeating: #"{"a":"#, count: levels) + #""x""#
            + String(repeating: "}", count: levels)
    }

    /// More than 256 KiB in small strings.
    static let big = (0..<140).map { number in "\"k\(number)\":\"\(text(2000))\"" }
        .joined(separator: ",")

    static let blockMany: @Sendable (SampleApplication) async throws -> Void = { sample in
        let users = (0..<UserPatch.blockLimit).compactMap { number in UserID("u\(number)") }
        try await sample.server.store.patchUser(
            try #require(UserID("ana")), [.setBlocks(users)], in: sample.application)
    }

    /// A content of the largest size; its bytes are never read.
    static let uploadLargest: @Sendable (SampleApplication) async throws -> Void = {
        sample in
        let conversation = sample.variables["C"].flatMap { id in Conversation.ID(uuid: id) }
        let id = try #require(Content.ID(uuid: "00000000-0000-0000-0000-000000000009"))
        _ = try await sample.server.store.finishUpload(
            Content(
                id: id, conversation: conversation, mimeType: "a/b",
                size: MessagingLimits().messageBytes,
                fileName: nil, sha256: [UInt8](repeating: 0, count: 32), crc32c: 0, md5: nil,
                sha512: nil, completedAt: Timestamp(milliseconds: 1), origin: nil),
            in: sample.application)
    }

    static let exportOnce: @Sendable (SampleApplication) async throws -> Void = { sample in
        try await sample.server.store.setExportKey(
            ExportKey(pem: "x", der: [1]), in: sample.application)
        _ = try await sample.server.store.requestExport(in: sample.application)
    }
}

extension `Error texts`.Case {
    static func invalid(
        _ rule: ValidationRule, _ property: String, _ message: String,
        _ request: `Error texts`.SampleRequest
    ) -> Self {
        Self(rule: rule, status: 422, property: property, message: message, request: request)
    }

    static func other(
        _ status: Int, property: String? = nil, _ message: String,
        _ request: `Error texts`.SampleRequest
    ) -> Self {
        Self(rule: nil, status: status, property: property, message: message, request: request)
    }
}
