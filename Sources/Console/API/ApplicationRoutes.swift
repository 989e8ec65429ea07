import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension ConsoleRoute {
    /// Applications.
    static let applications = [
        ConsoleRoute(
            .get, "/console/api/apps", .all(.read), parameters: ["after", "limit"]
        ) { request in try await request.listApplications() },
        ConsoleRoute(
            .post, "/console/api/apps", .operators(.admin), members: ["name"],
            repetition: .replayed(withoutMember: nil)
        ) { request in try await request.createApplication() },
        ConsoleRoute(
            .patch, "/console/api/apps/{app}", .operators(.admin), members: ["name", "suspended"],
            yieldsToPatches: true
        ) { request in try await request.changeApplication() },
    ]

    /// Tokens of an application.
    static let tokens = [
        ConsoleRoute(.get, "/console/api/apps/{app}/tokens", .all(.admin)) { request in
            try await request.listTokens()
        },
        ConsoleRoute(
            .post, "/console/api/apps/{app}/tokens", .all(.admin),
            members: ["name", "scope", "expires_at"], repetition: .replayed(withoutMember: "token")
        ) { request in try await request.createToken() },
        ConsoleRoute(.delete, "/console/api/apps/{app}/tokens/{token}", .all(.admin)) { request in
            try await request.revokeToken()
        },
    ]
}

extension ConsoleRequest {
    /// The store for a change that is recorded in the log of its application and in that of the server.
    private func store(
        recording type: AuditEventType, subject: String? = nil
    ) -> MessagingStore {
        return store.acting(as: actor).auditing(type, subject: subject, from: origin)
    }

    // MARK: - Applications

    /// `GET apps`: by id, with their counters.
    fileprivate func listApplications() async throws -> Response {
        let limit = try count("limit", from: 1, upTo: 100) ?? 50
        let after: Application.ID? = try id("after", of: "an application")
        let found = try await api.store.applicationCounts(
            after: after, only: principal?.token?.application.id, limit: Int(limit))
        return Response.console { writer in
            writer.array { writer in for counts in found { writer.write(counts) } }
        }
    }

    /// `POST apps`.
    fileprivate func createApplication() async throws -> Response {
        let name = try text("name", length: 1...Token.nameLimit)
        let created = try await store(recording: .applicationCreated, subject: name)
            .createApplication(name: name)
        let found = try await store.applicationCounts(only: created.id, limit: 1)
        return Response.console(.created) { writer in
            for counts in found { writer.write(counts) }
        }
    }

    /// `PATCH apps/{app}`.
    fileprivate func changeApplication() async throws -> Response {
        let name = try textIfPresent("name", length: 1...Token.nameLimit)
        let isSuspended = try body["suspended"].map { value in
            guard let isSuspended = value.bool else {
                throw APIError(
                    .invalidProperty, "`suspended` must be `true` or `false`.",
                    data: .property("suspended"))
            }
            return isSuspended
        }
        let application = try await application()
        if let name {
            try await store(recording: .applicationRenamed, subject: name)
                .renameApplication(application.id, name)
        }
        if let isSuspended {
            try await store(recording: isSuspended ? .applicationSuspended : .applicationResumed)
                .suspendApplication(application.id, isSuspended)
        }
        return .consoleNoContent
    }

    // MARK: - Tokens

    /// `GET apps/{app}/tokens`: without secrets.
    fileprivate func listTokens() async throws -> Response {
        let tokens = try await api.store.tokens(of: try await application().id)
        return Response.console { writer in
            writer.array { writer in for token in tokens { writer.write(token, secret: nil) } }
        }
    }

    /// `POST apps/{app}/tokens`: the answer shows the secret once.
    fileprivate func createToken() async throws -> Response {
        let name = try textIfPresent("name", length: 1...Token.nameLimit)
        let scope: Token.Scope = try choice(try text("scope", length: 1...16), named: "scope")
        let expiry = try textIfPresent("expires_at", length: 1...64).map { text in
            guard let moment = TimestampJSON.read(text), moment > api.clock() else {
                throw APIError(
                    .invalidProperty,
                    "`expires_at` must be a time in the future, such as 2030-01-31T00:00:00Z.",
                    data: .property("expires_at"))
            }
            return moment
        }
        let application = try await application()
        let created = try await store(recording: .tokenCreated, subject: name)
            .createToken(for: application.id, name: name, scope: scope, expiresAt: expiry)
        return Response.console(.created) { writer in
            writer.write(created.token, secret: created.secret)
        }
    }

    /// `DELETE apps/{app}/tokens/{token}`.
    fileprivate func revokeToken() async throws -> Response {
        guard let id = parameters["token"].flatMap({ Token.ID(uuid: $0) }) else {
            throw Rejection.notFound(.token)
        }
        let application = try await application()
        try await store(recording: .tokenRevoked, subject: id.uuid)
            .revokeToken(id, of: application.id)
        return .consoleNoContent
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ counts: ApplicationCounts) {
        object { writer in
            writer.member("id", counts.application.id.uuid)
            writer.member("name", counts.application.name)
            writer.member("created_at", counts.application.createdAt)
            writer.member("suspended", counts.application.isSuspended)
            writer.member("users", counts.users)
            writer.member("conversations", counts.conversations)
            writer.member("messages", counts.messages)
            writer.member("content_bytes", counts.contentBytes)
        }
    }

    /// - Parameter secret: `nil` leaves it out.
    fileprivate mutating func write(_ token: Token, secret: String?) {
        object { writer in
            writer.member("id", token.id.uuid)
            writer.member("name", token.name)
            writer.member("scope", token.scope.rawValue)
            writer.member("created_at", token.createdAt)
            writer.member("expires_at", token.expiresAt)
            writer.member("revoked_at", token.revokedAt)
            if let secret { writer.member("token", secret) }
        }
    }
}
