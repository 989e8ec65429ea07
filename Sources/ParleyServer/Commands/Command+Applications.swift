import Glibc
import Messaging
import MessagingStore
import MessagingWire

extension Command {
    /// Creates an application and prints its id.
    public static func createApplication(_ sources: SettingsSources, name: String) async throws
        -> Int32
    {
        guard !name.isEmpty, name.utf8.count <= 200 else {
            throw CommandFailure("the name of an application has 1 to 200 bytes")
        }
        return try await withStore(sources, making: true) { store in
            let application = try await store.createApplication(name: name)
            printLine("APP=\(application.id)")
        }
    }

    /// Prints the applications: id, state, creation time and name, separated by tabs.
    public static func listApplications(_ sources: SettingsSources) async throws -> Int32 {
        try await withStore(sources) { store in
            for application in try await store.applications() {
                let state = application.isSuspended ? "suspended" : "active"
                printLine(
                    "\(application.id)\t\(state)\t\(text(application.createdAt))\t\(application.name)"
                )
            }
        }
    }

    /// Suspends an application, so that all its tokens are refused, or resumes it.
    public static func suspendApplication(
        _ sources: SettingsSources, _ id: String, lifting: Bool
    ) async throws -> Int32 {
        let id = try application(id)
        return try await withStore(sources) { store in
            do {
                try await store.suspendApplication(id, !lifting)
            } catch is Rejection {
                throw CommandFailure("there is no application \(id)")
            }
            printLine("\(id)\t\(lifting ? "active" : "suspended")")
        }
    }

    static func application(_ text: String) throws(CommandFailure) -> Application.ID {
        guard let id = Application.ID(uuid: text) else {
            throw CommandFailure("\(text) is not the id of an application")
        }
        return id
    }

    /// Creates a token and prints its id and, only this once, its secret.
    ///
    /// - Parameters:
    ///   - scope: `read`, `write` or `admin`.
    ///   - expiry: A time such as `30d` from now, or a date such as `2030-01-31T00:00:00Z`.
    public static func createToken(
        _ sources: SettingsSources, application text: String, scope: String, expiry: String?
    ) async throws -> Int32 {
        let application = try application(text)
        guard let scope = Token.Scope(rawValue: scope) else {
            let names = Token.Scope.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure("the scope of a token is one of \(names)")
        }
        let now = StoreEnvironment.live.now()
        let expiresAt = try expiry.map { text in try moment(text, after: now) }
        return try await withStore(sources) { store in
            do {
                let created = try await store.createToken(
                    for: application, scope: scope, expiresAt: expiresAt)
                printLine("ID=\(created.token.id)\nTOKEN=\(created.secret)")
            } catch is Rejection {
                throw CommandFailure("there is no application \(application)")
            }
        }
    }

    /// Prints the tokens: id, scope, state, creation time and expiry, separated by tabs; never a
    /// secret.
    public static func listTokens(_ sources: SettingsSources, application text: String) async throws
        -> Int32
    {
        let application = try application(text)
        let now = StoreEnvironment.live.now()
        return try await withStore(sources) { store in
            guard try await store.application(application) != nil else {
                throw CommandFailure("there is no application \(application)")
            }
            for token in try await store.tokens(of: application) {
                let state =
                    token.revokedAt != nil
                    ? "revoked" : token.isValid(at: now) ? "active" : "expired"
                let end = token.expiresAt.map(self.text) ?? "never"
                printLine(
                    "\(token.id)\t\(token.scope.rawValue)\t\(state)\t\(self.text(token.createdAt))\t\(end)"
                )
            }
        }
    }

    /// Revokes a token; a running server refuses it within a second.
    public static func revokeToken(
        _ sources: SettingsSources, application: String, _ text: String
    ) async throws -> Int32 {
        let application = try Command.application(application)
        guard let id = Token.ID(uuid: text) else {
            throw CommandFailure("\(text) is not the id of a token")
        }
        return try await withStore(sources) { store in
            do {
                try await store.revokeToken(id, of: application)
            } catch is Rejection {
                throw CommandFailure("application \(application) has no token \(id)")
            }
            printLine("\(id)\trevoked")
        }
    }

    /// Begins a session of a user without an identity token, and prints its token (X14).
    public static func logInForDevelopment(
        _ sources: SettingsSources, application text: String, user: String
    ) async throws -> Int32 {
        let application = try application(text)
        guard let user = UserID(user) else {
            throw CommandFailure("a user id has 1 to 128 characters and is not . or ..")
        }
        return try await withStore(sources) { store in
            do {
                let created = try await store.beginDevelopmentSession(
                    of: user, userAgent: "parley dev-login", in: application)
                printLine("SESSION=\(created.token)")
            } catch is Rejection {
                throw CommandFailure("there is no application \(application)")
            } catch is IdentityTokenProblem {
                throw CommandFailure("user \(user) is suspended")
            }
        }
    }

    /// Events read at once.
    private static let batchSize = 100
    /// Milliseconds between two polls for new events.
    private static let pause: Int64 = 500

    /// Prints the event log of an application, one line per event.
    ///
    /// - Parameters:
    ///   - start: The position after which to start; `nil` for the oldest event that is kept.
    ///   - following: Whether to continue with new events until the output is closed.
    public static func log(
        _ sources: SettingsSources, application text: String, after start: Int64?, following: Bool
    ) async throws -> Int32 {
        let application = try application(text)
        return try await withStore(sources) { store in
            guard try await store.application(application) != nil else {
                throw CommandFailure("there is no application \(application)")
            }
            var position = start.map(LogPosition.init)
            while true {
                let page = try await page(of: store, after: position, application)
                for shown in page.events {
                    let recorded = shown.recorded
                    printLine(
                        EventLogLine.text(recorded.event, by: recorded.actor, at: recorded.at))
                }
                position = page.through
                guard !page.isCut else { continue }
                guard following else { return }
                // A server in another process may write to the log, so it is polled.
                try await Task.sleep(for: .milliseconds(pause))
            }
        }
    }

    private static func page(
        of store: MessagingStore, after position: LogPosition?, _ application: Application.ID
    ) async throws -> EventPage {
        do {
            return try await store.eventPage(
                EventLogQuery(.ascending(after: position), limit: batchSize), in: application)
        } catch Rejection.positionGone(let oldest) {
            throw CommandFailure("the log begins at position \(oldest.number)")
        } catch Rejection.invalid {
            throw CommandFailure("the log ends before position \(position?.number ?? 0)")
        }
    }
}
