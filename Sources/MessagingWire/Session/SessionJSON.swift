public import JSON
public import Messaging

/// Sessions as the Platform API lists them (ruling 49).
public enum SessionJSON {
    /// Returns a list of sessions.
    public static func bytes(_ sessions: [Session]) -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.array { writer in
            for session in sessions { write(session, into: &writer) }
        }
        return writer.finish()
    }

    /// Returns a session.
    public static func bytes(_ session: Session) -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        write(session, into: &writer)
        return writer.finish()
    }

    private static func write(_ session: Session, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", IdentifierJSON.text(session.id, in: .sessions))
            writer.member("created_at", TimestampJSON.text(session.createdAt))
            writer.member("expires_at", TimestampJSON.text(session.expiresAt))
            writer.member("last_used_at", TimestampJSON.text(session.lastUsedAt))
            writer.member("user_agent", session.userAgent)
        }
    }

    /// The schema of a session.
    public static let schema = JSONSchema.named(
        "Session",
        .object([
            .required("id", .identifier(.sessions)),
            .required("created_at", .time),
            .required("expires_at", .time),
            .required("last_used_at", JSONSchema.time.withDescription("The start of an hour.")),
            .required("user_agent", JSONSchema.string.orNull),
        ]))
}

/// The body and the answer of `POST /sessions` and `POST /dev/login` (client-api §2.3, X14).
public enum SessionRequestJSON {
    /// Reads the identity token and the application's id of `POST /sessions`.
    ///
    /// - Returns: The application is `nil` for a text that is no id.
    /// - Throws: `missing` or `invalid` of `identity_token`, then of `app_id`.
    public static func read(
        _ body: JSONValue
    ) throws(Rejection) -> (token: String, application: Application.ID?) {
        guard let token = body.present("identity_token") else { throw .missing("identity_token") }
        guard let token = token.string else {
            throw .invalid("identity_token", .identityTokenText)
        }
        guard let application = body.present("app_id") else { throw .missing("app_id") }
        return (token, application.string.flatMap(applicationID))
    }

    /// Reads the user, display name and application of `POST /dev/login`.
    ///
    /// - Returns: The application is `nil` where `app_id` is missing.
    public static func readDevelopment(
        _ body: JSONValue
    ) throws(Rejection) -> (user: UserID, displayName: String?, application: String?) {
        guard let user = body.present("user_id") else { throw .missing("user_id") }
        guard let user = user.string.flatMap({ UserID($0) }) else {
            throw .invalid("user_id", .sessionUser)
        }
        var displayName: String?
        if let value = body.present("display_name") {
            guard let text = value.string else { throw .invalid("display_name", .identityText) }
            try Identity.Member.displayName.check(text, as: "display_name")
            displayName = text
        }
        let application = body.present("app_id").map { value in value.string ?? "" }
        return (user, displayName, application)
    }

    /// Reads an application's id in any of its forms: what follows the last `/` is the UUID (platform-api §1.1).
    public static func applicationID(_ text: String) -> Application.ID? {
        Application.ID(
            uuid: text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .last.map { String(Substring($0)) } ?? "")
    }

    /// Returns the answer with a session token.
    public static func answer(_ token: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in writer.member("session_token", token) }
        return writer.finish()
    }

    /// Returns the answer to `POST /dev/login`.
    public static func answer(
        _ token: String, of user: UserID, in application: Application.ID
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("session_token", token)
            writer.member("user_id", user.text)
            writer.member("app_id", application.uuid)
        }
        return writer.finish()
    }

    /// Returns the answer to `POST /nonces`.
    public static func answer(nonce: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in writer.member("nonce", nonce) }
        return writer.finish()
    }
}

extension SessionRequestJSON {
    /// The schema of what ``read(_:)`` reads.
    public static let schema = JSONSchema.named(
        "SessionDraft",
        .object([
            .required("identity_token", .string),
            .required(
                "app_id",
                JSONSchema.string.withDescription(
                    "A UUID, or `layer:///apps/production/` or `layer:///apps/staging/` and the UUID."
                )),
        ]))

    /// The schema of what ``readDevelopment(_:)`` reads.
    public static let developmentSchema = JSONSchema.named(
        "DevelopmentLogin",
        .object([
            .required("user_id", UserIDJSON.bareSchema),
            .optional("display_name", .storable(length: 1...128)),
            .optional("app_id", .string),
        ]))

    private static let token = JSONSchema.pattern("[A-Za-z0-9_-]{43}")

    /// The schema of the answer with a session token.
    public static let answerSchema = JSONSchema.named(
        "SessionToken", .object([.required("session_token", token)]))

    /// The schema of the answer to `POST /dev/login`.
    public static let developmentAnswerSchema = JSONSchema.named(
        "DevelopmentSession",
        .object([
            .required("session_token", token), .required("user_id", UserIDJSON.bareSchema),
            .required("app_id", .uuid),
        ]))

    /// The schema of the answer to `POST /nonces`.
    public static let nonceSchema = JSONSchema.named(
        "Nonce", .object([.required("nonce", .string(length: 1...128))]))
}
