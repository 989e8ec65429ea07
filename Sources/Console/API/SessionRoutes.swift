import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension ConsoleRoute {
    /// Logins, sessions and the own password.
    static let sessions = [
        ConsoleRoute(
            .post, "/console/api/session", .login, members: ["name", "password", "token", "once"]
        ) { request in try await request.logIn() },
        ConsoleRoute(.get, "/console/api/session", .all(.read)) { request in
            try await request.readSession()
        },
        ConsoleRoute(.delete, "/console/api/session", .all(.read)) { request in
            try await request.logOut()
        },
        ConsoleRoute(.get, "/console/api/sessions", .operators(.admin)) { request in
            try await request.listSessions()
        },
        ConsoleRoute(.delete, "/console/api/sessions/{session}", .operators(.admin)) { request in
            try await request.endSession()
        },
        ConsoleRoute(.get, "/console/api/operators", .operators(.admin)) { request in
            try await request.listOperators()
        },
        ConsoleRoute(
            .put, "/console/api/password", .operators(.read), members: ["old", "new"]
        ) { request in try await request.setPassword() },
    ]
}

extension ConsoleRequest {
    // MARK: - The own session

    /// `POST session`: begins a session by a password, a token or a link.
    fileprivate func logIn() async throws -> Response {
        try requireSafeTransport()
        let kinds = ["password", "token", "once"].filter { name in body[name] != nil }
        guard kinds.count == 1, (body["name"] != nil) == (kinds[0] == "password") else {
            throw APIError(
                .invalidRequest,
                "A login has `name` and `password`, or `token`, or `once`, and nothing else.")
        }
        let secret = try text(kinds[0], length: 1...4096)
        let credential: ConsoleCredential
        switch kinds[0] {
        case "password":
            let name = try text("name", length: 1...1024)
            credential = .password(
                name,
                stored: try await api.logins.check(secret, of: name, from: origin, request.peer))
        case "token":
            credential = .token(
                try await api.logins.check(token: secret, from: origin, request.peer))
        default:
            try api.logins.takeLink(request.peer)
            credential = .link(secret)
        }
        let cookie = try await api.cookie(for: request)
        let created = try await api.store.beginConsoleSession(
            by: credential, agent: request.fields["User-Agent"],
            replacing: cookie.value(in: request.fields), api.settings.lifetimes, from: origin)
        guard let created else { throw await api.logins.refuseLink(from: origin, request.peer) }
        var response = try await answer(.session(created.grant))
        response.fields.add(
            "Set-Cookie",
            cookie.setting(created.token, lifetime: api.settings.sessionLifetime / 1000))
        return response
    }

    /// A password must not be readable on the way.
    private func requireSafeTransport() throws {
        guard request.scheme == .http, !request.peer.isLoopback, !api.settings.allowsHTTP else {
            return
        }
        throw APIError(
            .insecureTransport,
            """
            A login needs https; use a tunnel, such as `ssh -L 8080:127.0.0.1:8080 HOST`, or allow \
            it with `console.allow_http`.
            """)
    }

    /// `GET session`.
    fileprivate func readSession() async throws -> Response {
        guard let principal else { throw Rejection.notFound(.session) }
        return try await answer(principal)
    }

    /// `DELETE session`.
    fileprivate func logOut() async throws -> Response {
        guard let session = principal?.session else {
            throw APIError(.invalidOperation, "A token in `Authorization` has no session.")
        }
        _ = try await api.store.endConsoleSession(session.id, isLogout: true, from: origin)
        var response = Response.consoleNoContent
        response.fields.add(
            "Set-Cookie", try await api.cookie(for: request).setting("", lifetime: 0))
        return response
    }

    private func answer(_ principal: ConsolePrincipal) async throws -> Response {
        let instance = try await api.store.instanceID()
        return Response.console { writer in
            writer.object { writer in
                writer.member("id", principal.session?.id.uuid)
                writer.member("name", principal.name)
                writer.member("role", principal.role.rawValue)
                writer.member("app", principal.token?.application.id.uuid)
                writer.member(
                    "expires_at",
                    principal.session?.expiresAt ?? principal.token?.token.expiresAt)
                if let account = principal.account {
                    writer.member("has_password", account.hasPassword)
                }
                writer.key("server")
                writer.object { writer in
                    writer.member("id", String(instance.prefix(8)))
                    writer.member("name", api.server.name)
                    writer.member("version", api.server.version)
                    writer.member("time", api.clock())
                    writer.member("api", api.server.apiBase)
                    writer.member("backups", api.settings.backupFolder != nil)
                }
            }
        }
    }

    // MARK: - All sessions

    /// `GET sessions`.
    fileprivate func listSessions() async throws -> Response {
        let grants = try await api.store.consoleSessions(api.settings.lifetimes)
        return Response.console { writer in
            writer.array { writer in
                for grant in grants {
                    let session = grant.session
                    writer.object { writer in
                        writer.member("id", session.id.uuid)
                        writer.member("name", session.holder.name)
                        writer.member("role", grant.role.rawValue)
                        writer.member("created_at", session.createdAt)
                        writer.member("last_used_at", session.lastUsedAt)
                        writer.member("address", session.address)
                        writer.member("agent", session.agent)
                    }
                }
            }
        }
    }

    /// `DELETE sessions/{session}`.
    fileprivate func endSession() async throws -> Response {
        guard let id = parameters["session"].flatMap({ ConsoleSession.ID(uuid: $0) }),
            try await api.store.endConsoleSession(id, isLogout: false, from: origin)
        else { throw Rejection.notFound(.session) }
        return .consoleNoContent
    }

    // MARK: - Operators

    /// `GET operators`: by name.
    fileprivate func listOperators() async throws -> Response {
        let operators = try await api.store.operators()
        return Response.console { writer in
            writer.array { writer in
                for account in operators {
                    writer.object { writer in
                        writer.member("name", account.name)
                        writer.member("role", account.role.rawValue)
                        writer.member("has_password", account.hasPassword)
                        writer.member("created_at", account.createdAt)
                    }
                }
            }
        }
    }

    // MARK: - The own password

    /// `PUT password`: the former one is not needed in a session that began with a link.
    fileprivate func setPassword() async throws -> Response {
        guard let account = principal?.account, let session = principal?.session else {
            throw APIError(.accessDenied, "Only an operator has a password.")
        }
        try requireSafeTransport()
        let new = try text("new", length: Operator.passwordSize)
        var former: [UInt8]?
        if let old = try textIfPresent("old", length: 1...4096) {
            do {
                former = try await api.logins.check(
                    old, of: account.name, from: origin, request.peer)
            } catch let error as APIError where error.kind == .authenticationRequired {
                throw APIError(
                    .accessDenied, "`old` is not the current password.", data: .property("old"))
            }
        } else if !session.isByLink {
            throw Rejection.missing("old")
        }
        let isReplaced = try await api.store.replacePassword(
            try await api.logins.hash(new), of: account.name, in: session.id, replacing: former,
            from: origin)
        guard isReplaced else {
            throw APIError(
                .accessDenied,
                "The session has ended, or the password was changed meanwhile; log in again.")
        }
        return .consoleNoContent
    }
}

extension PeerAddress {
    /// Whether it is this machine.
    fileprivate var isLoopback: Bool {
        switch self {
        case .ipv4(let bits, _): bits >> 24 == 127
        case .ipv6(let address, _): address == .loopback
        case .local: true
        case .unknown: false
        }
    }
}
