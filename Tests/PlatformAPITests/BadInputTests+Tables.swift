import Testing

extension `Bad input` {
    /// A request that must be rejected, and the expected error.
    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        let body: String
        let status: Int
        let code: Int64
        let property: String?

        var testDescription: String { "\(method) \(path) \(body.prefix(80)) → \(status)/\(code)" }
    }

    static func missing(_ name: String, _ route: Route, _ body: String) -> Case {
        Case(
            method: route.method, path: route.path, body: body, status: 422, code: 104,
            property: name)
    }

    static func invalid(_ name: String, _ route: Route, _ body: String) -> Case {
        Case(
            method: route.method, path: route.path, body: body, status: 422, code: 105,
            property: name)
    }

    struct Route: Sendable {
        let method: String
        let path: String
        static let create = Route(method: "POST", path: "/apps/{app}/conversations")
        static let patch = Route(method: "PATCH", path: "/apps/{app}/conversations/{C}")
        static let announce = Route(method: "POST", path: "/apps/{app}/announcements")
        static let notify = Route(method: "POST", path: "/apps/{app}/notifications")
        static let identity = Route(method: "POST", path: "/apps/{app}/users/cy/identity")
        static let block = Route(method: "POST", path: "/apps/{app}/users/ana/blocks")
        static let badge = Route(method: "PUT", path: "/apps/{app}/users/ana/badge")
        static let follow = Route(method: "POST", path: "/apps/{app}/users/ana/following")
        static let user = Route(method: "PATCH", path: "/apps/{app}/users/ana")
        static let send = Route(method: "POST", path: "/apps/{app}/conversations/{C}/messages")
    }

    static let long = String(repeating: "é", count: 129)

    static let conversations: [Case] = [
        missing("participants", .create, ""),
        missing("participants", .create, #"{"Participants":["ana"]}"#),
        invalid("participants", .create, #"{"participants":true}"#),
        invalid("participants", .create, #"{"participants":[[]]}"#),
        invalid("participants", .create, #"{"participants":[12345678901234567890]}"#),
        invalid("participants", .create, #"{"participants":["\#(long)"]}"#),
        invalid("distinct", .create, #"{"participants":["ana"],"distinct":0}"#),
        invalid("metadata", .create, #"{"participants":["ana"],"metadata":1e308}"#),
        invalid("metadata", .create, #"{"participants":["ana"],"metadata":{"a":"x","b":[]}}"#),
        invalid(
            "metadata", .create,
            #"{"participants":["ana"],"metadata":{"a":"\#(String(repeating: "x", count: 2049))"}}"#),
        invalid(
            "metadata", .create,
            #"{"participants":["ana"],"metadata":{\#(big)}}"#),
        invalid("id", .create, #"{"participants":["ana"],"id":["x"]}"#),
    ]

    /// More than 256 KiB in small texts.
    static let big = (0..<140).map { number in
        "\"k\(number)\":\"\(String(repeating: "x", count: 2000))\""
    }.joined(separator: ",")

    static let patches: [Case] = [
        missing("operation", .patch, "{}"),
        missing("property", .patch, #"[{"operation":"add"}]"#),
        missing("value", .patch, #"[{"operation":"add","property":"participants"}]"#),
        invalid("operation", .patch, #"[{"operation":{},"property":"metadata"}]"#),
        invalid("property", .patch, #"[{"operation":"set","property":"participant","value":1}]"#),
        invalid("value", .patch, #"[{"operation":"set","property":"metadata.a","value":1e999}]"#),
        invalid(
            "metadata.é", .patch, #"[{"operation":"set","property":"metadata.é","value":"x"}]"#),
        invalid(
            "metadata", .patch, #"[{"operation":"set","property":"metadata","value":{\#(big)}}]"#),
        invalid(
            "participants", .patch,
            "["
                + (0..<26).map { number in
                    #"{"operation":"add","property":"participants","value":"u\#(number)"}"#
                }.joined(separator: ",") + "]"),
    ]

    /// Ids that no URL can contain, in every member that introduces one (ruling 30).
    static let dots: [Case] = [".", ".."].flatMap { id in
        [
            invalid("participants", .create, #"{"participants":["ana","\#(id)"]}"#),
            invalid(
                "participants", .patch,
                #"[{"operation":"add","property":"participants","value":"\#(id)"}]"#),
            invalid(
                "participants", .patch,
                #"[{"operation":"set","property":"participants","value":["ana","\#(id)"]}]"#),
            invalid("sender_id", .send, #"{"sender_id":"\#(id)",\#(part)}"#),
            invalid("sender.user_id", .send, #"{"sender":{"user_id":"\#(id)"},\#(part)}"#),
            invalid(
                "recipients", .announce,
                #"{"recipients":["\#(id)"],"sender":{"name":"x"},\#(part)}"#),
            invalid(
                "recipients", .notify,
                #"{"recipients":["\#(id)"],"notification":{"text":"x"}}"#),
            invalid("following", .follow, #"["\#(id)"]"#),
            invalid(
                "blocks", .user,
                #"[{"operation":"add","property":"blocks","value":"\#(id)"}]"#),
        ]
    }

    static let part = #""parts":[{"mime_type":"a/b","body":"x"}]"#

    static let messages: [Case] = [
        missing("sender", .send, ""),
        invalid("sender", .send, #"{"sender":[{"user_id":"ana"}],\#(part)}"#),
        invalid("sender.user_id", .send, #"{"sender":{"user_id":"\#(long)"},\#(part)}"#),
        invalid("sender.user_id", .send, #"{"sender":{"user_id":"outsider"},\#(part)}"#),
        missing("parts", .send, #"{"sender":{"user_id":"ana"},"parts":null}"#),
        invalid("parts", .send, #"{"sender":{"user_id":"ana"},"parts":[null]}"#),
        missing("parts.mime_type", .send, #"{"sender":{"user_id":"ana"},"parts":[{}]}"#),
        invalid(
            "parts.body", .send,
            #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","body":"x"},{"mime_type":"a/b","body":"\#(String(repeating: "é", count: 1025))"}]}"#
        ),
        invalid(
            "parts.content", .send,
            #"{"sender":{"user_id":"ana"},"parts":[{"mime_type":"a/b","content":{"id":"layer:///content/00000000-0000-0000-0000-000000000000","size":99999999999999999999}}]}"#
        ),
        invalid("notification", .send, #"{"sender":{"user_id":"ana"},\#(part),"notification":[]}"#),
        invalid("schedule", .send, #"{"sender":{"user_id":"ana"},\#(part),"schedule":"soon"}"#),
        invalid("id", .send, #"{"sender":{"user_id":"ana"},\#(part),"id":{}}"#),
        missing(
            "schedule.delay_in_seconds", .send,
            #"{"sender":{"user_id":"ana"},\#(part),"schedule":{"delay_in_seconds":null}}"#),
    ]

    static let schedules: [Case] =
        [
            "0", "0.999", "300.5", "-1", "1e300", "1e999", #""5""#, "[5]", "{}", "true",
            "99999999999999999999",
        ].flatMap { value in
            [
                invalid(
                    "schedule.delay_in_seconds", .send,
                    #"{"sender":{"user_id":"ana"},\#(part),"schedule":{"delay_in_seconds":\#(value)}}"#
                ),
                invalid(
                    "schedule.typing_indicator_in_seconds", .send,
                    // A typing time of 0 means none (ruling 23).
                    #"{"sender":{"user_id":"ana"},\#(part),"schedule":{"delay_in_seconds":30,"typing_indicator_in_seconds":\#(value == "0" ? "0.5" : value)}}"#
                ),
            ]
        }

    /// One user more than the limit.
    static let tooManyUsers = (0...10_000).map { number in "\"u\(number)\"" }
        .joined(separator: ",")

    static let service = #""sender":{"name":"Shop"}"#

    static let announcements: [Case] = [
        missing("recipients", .announce, ""),
        invalid("recipients", .announce, #"{"recipients":"everyone"}"#),
        invalid("recipients", .announce, #"{"recipients":[\#(tooManyUsers)]}"#),
        invalid("recipients", .announce, #"{"recipients":["\#(long)"]}"#),
        invalid("recipients", .announce, #"{"recipients":[12345678901234567890]}"#),
        missing("sender", .announce, #"{"recipients":["ana"],"sender":null}"#),
        invalid("sender.name", .announce, #"{"recipients":["ana"],"sender":{"name":"\#(long)"}}"#),
        invalid(
            "sender.user_id", .announce, #"{"recipients":["ana"],"sender":{"user_id":"ana"}}"#),
        missing("parts", .announce, #"{"recipients":["ana"],\#(service)}"#),
        invalid(
            "parts", .announce,
            #"{"recipients":["ana"],\#(service),"parts":[\#(Array(repeating: "5", count: 1001).joined(separator: ","))]}"#
        ),
        invalid(
            "parts.content", .announce,
            #"{"recipients":["ana"],\#(service),"parts":[{"mime_type":"a/b","content":{"id":"x"}}]}"#
        ),
        invalid(
            "notification", .announce,
            #"{"recipients":["ana"],\#(service),\#(part),"notification":"x"}"#),
        invalid("id", .announce, #"{"recipients":["ana"],\#(service),\#(part),"id":"x"}"#),
    ]

    static let notifications: [Case] =
        [
            missing("recipients", .notify, ""),
            invalid("recipients", .notify, #"{"recipients":{}}"#),
            invalid("recipients", .notify, #"{"recipients":[\#(tooManyUsers)]}"#),
            missing("notification", .notify, #"{"recipients":["ana"]}"#),
        ]
        + [
            "5", "[]", #""x""#, #"{"title":5}"#, #"{"category":[]}"#, #"{"title-loc-key":{}}"#,
            #"{"title-loc-args":[null]}"#, #"{"loc-key":1e999}"#, #"{"loc-args":"x"}"#,
            #"{"action-loc-key":true}"#, #"{"apns":{"launch-image":[]}}"#, #"{"data":{"a":null}}"#,
            #"{"recipients":[{"user_id":"\#(long)"}]}"#, #"{"recipients":{"":{}}}"#,
            #"{"recipients":[5]}"#, #"{"recipients":[{"user_id":"bo","data":5}]}"#,
        ].map { value in
            invalid(
                "notification", .notify, #"{"recipients":["ana"],"notification":\#(value)}"#)
        }

    static let users: [Case] =
        [
            missing("display_name", .identity, ""),
            invalid("avatar_url", .identity, #"{"display_name":"A","avatar_url":[]}"#),
            invalid("metadata", .identity, #"{"display_name":"A","metadata":{"a":1}}"#),
            missing("user_id", .block, ""),
            invalid("user_id", .block, #"{"user_id":"\#(long)"}"#),
            missing("external_unread_count", .badge, #"{"external_unread_count":null}"#),
            invalid("external_unread_count", .badge, #"{"external_unread_count":1e999}"#),
            invalid("external_unread_count", .badge, #"{"external_unread_count":[13]}"#),
            invalid("following", .follow, "[null]"),
            invalid("following", .follow, #"["\#(long)"]"#),
            invalid("value", .user, #"{"operation":"set","property":"suspended","value":1}"#),
            invalid("blocks", .user, #"{"operation":"delete","property":"blocks"}"#),
            // The body is validated before the names in the path (R114).
            missing(
                "display_name",
                Route(method: "PUT", path: "/apps/{app}/users/\(long)/identity"), "{}"),
            missing(
                "external_unread_count",
                Route(method: "PUT", path: "/apps/{app}/users/unknown/badge"), "{}"),
            invalid(
                "session_ttl_in_seconds", Route(method: "PATCH", path: "/apps/{app}"),
                #"{"operation":"set","property":"session_ttl_in_seconds","value":1e9}"#),
        ]
        + [("page_size", "0"), ("page_size", "x"), ("from_id", "")].flatMap { name, value in
            ["following", "identities"].map { list in
                invalid(
                    name,
                    Route(method: "GET", path: "/apps/{app}/users/ana/\(list)?\(name)=\(value)"),
                    "")
            }
        }

    static let queries: [Case] = [
        ("page_size", "0"), ("page_size", "-1"), ("page_size", "1.5"), ("page_size", ""),
        ("page_size", "+5"), ("page_size", "%D9%A1"), ("from_id", ""), ("from_id", "5"),
    ].flatMap { name, value in
        ["/apps/{app}/users/ana/conversations", "/apps/{app}/conversations/{C}/messages"].map {
            invalid(name, Route(method: "GET", path: "\($0)?\(name)=\(value)"), "")
        }
    }

    static let brokenBodies: [[UInt8]] =
        [
            "{", "}", "[", "nul", "{}{}", "{'a':1}", #"{"a":01}"#, #"{"a":1,}"#, "\u{FEFF}{}",
            #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":1}}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00x"}"#,
            #"{"a":"\x"}"#, "{\"a\":\"\u{1}\"}", #"{"a":NaN}"#,
            #"{"a":\#(String(repeating: "9", count: 1000))}"#,
            String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
            String(repeating: #"{"a":"#, count: 100_000),
        ].map { Array($0.utf8) } + [
            [0xFF], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        ]
}
