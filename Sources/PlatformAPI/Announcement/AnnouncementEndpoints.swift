import HTTP
import MessagingWire

extension Endpoint {
    /// Announcements in the perspectives of the system and of their recipients
    /// (platform-api §5.5, client-api §4.4).
    static let announcements = [
        Endpoint(
            .post, "/apps/{app}/announcements", "Sends an announcement to many users.",
            isKeyed: true, .jsonBody { context, body in try await context.announce(body) }
        ) { version in
            Operation(
                "announce", body: AnnouncementDraftJSON.schema(version),
                answers: [.accepted(AnnouncementJSON.schema(version), [.location])],
                errors: [.notFound, .idInUse],
                example: Example(
                    body: """
                        {"recipients":[\(Sample.name(Sample.writer, version)),\
                        \(Sample.name(Sample.reader, version))],\
                        \(version.namesIdentities
                            ? "\"sender_id\":\(Sample.name(Sample.writer, version))"
                            : "\"sender\":{\"name\":\"House rules\"}"),\
                        "parts":[{"mime_type":"text/plain","body":"Water off at noon"}],\
                        "id":"\(Sample.announcement)"}
                        """, after: ["createConversation"]))
        },
        Endpoint(
            .get, "/apps/{app}/announcements/{announcement}", "Reads an announcement.",
            isCompressed: true, .withoutBody { context in try await context.readAnnouncement() }
        ) { version in
            Operation(
                "readAnnouncement",
                answers: [.ok(AnnouncementJSON.schema(version), "The announcement.")])
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/announcements",
            "Lists a user's announcements, newest first.", isCompressed: true,
            .withoutBody { context in try await context.listAnnouncements() }
        ) { version in
            Operation(
                "listUserAnnouncements", query: Parameter.page(of: .announcements),
                answers: [.list(of: AnnouncementJSON.userSchema(version))],
                example: Example(query: [("page_size", "20")], after: ["announce"]))
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/announcements/{announcement}",
            "Reads an announcement as a user sees it.", isCompressed: true,
            .withoutBody { context in try await context.readReceivedAnnouncement() }
        ) { version in
            Operation(
                "readUserAnnouncement",
                answers: [.ok(AnnouncementJSON.userSchema(version), "The announcement.")])
        },
        Endpoint(
            .delete, "/apps/{app}/users/{user}/announcements/{announcement}",
            "Deletes an announcement for one user.",
            .withoutBody { context in try await context.deleteAnnouncement() }
        ) { _ in
            Operation("deleteUserAnnouncement", answers: [.noContent])
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/announcements/{announcement}/receipts",
            "Records that a user has received or read an announcement.",
            .jsonBody { context, body in try await context.sendAnnouncementReceipt(body) }
        ) { _ in
            Operation(
                "sendAnnouncementReceipt", body: ReceiptJSON.schema, answers: [.noContent],
                example: Example(body: #"{"type":"read"}"#))
        },
    ]
}
