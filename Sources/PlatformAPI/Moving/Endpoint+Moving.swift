import HTTP
import JSON
import Messaging
import MessagingWire

extension Endpoint {
    /// An application as lines, from one server to another (X10).
    static let moving = [
        Endpoint(
            .get, "/apps/{app}/export", "Gives everything of the application, line by line.",
            scope: .admin, needsRoom: true, .head { call in try await call.exportLines() }
        ) { _ in
            Operation(
                "exportLines",
                query: [
                    Parameter(
                        "contents", .choice(ContentWish.allCases.map(\.rawValue)),
                        "`none` leaves out the bytes of contents; otherwise they stand before what "
                            + "names them.")
                ],
                answers: [.lines("Lines, each a JSON object: the application, then its records.")],
                errors: [.requestInProgress],
                example: Example(query: [("contents", "inline")]))
        },
        Endpoint(
            .post, "/apps/{app}/import", "Takes such lines, and brings what is not there.",
            scope: .admin, needsRoom: true,
            .pulled { call, body in try await call.importLines(of: body) }
        ) { _ in
            Operation(
                "importLines",
                body: JSONSchema.string.saying("What `GET /apps/{app}/export` gives."),
                bodyType: LinesType.name,
                answers: [.ok(ImportJSON.schema, "All lines are durable.")],
                errors: [.quotaExceeded], example: Example(body: Sample.lines))
        },
    ]
}

/// What an export is to do about the bytes of contents.
enum ContentWish: String, CaseIterable {
    /// They stand in it.
    case inline
    /// They are left out: an import finds them elsewhere.
    case none
}

extension Sample {
    /// An application with one user.
    fileprivate static let lines = """
        {"record":"application","format":1,"id":"\(application)","name":"shop",\
        "created_at":"2026-03-01T09:15:30.042Z","suspended":false}
        {"record":"user","user_id":"ana","standing":"told","version":1,"identity_type":"user",\
        "display_name":"Ana","suspended":false,"external_unread_count":0,\
        "created_at":"2026-03-01T09:15:30.042Z"}

        """
}
