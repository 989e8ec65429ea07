import Glibc
import Messaging
import MessagingStore
import MessagingWire

extension Command {
    /// Makes an application and prints its id.
    public static func createApplication(_ sources: SettingsSources, name: String) async throws
        -> Int32
    {
        guard !name.isEmpty, name.utf8.count <= 200 else {
            throw CommandFailure("the name of an application has 1 to 200 bytes")
        }
        return try await withStore(sources, making: true) { store in
            let application = try await store.createApplication(name: name)
            say("APP=\(application.id)")
        }
    }

    /// Lists applications: id, state, time of creation, name, separated by tabs.
    public static func listApplications(_ sources: SettingsSources) async throws -> Int32 {
        try await withStore(sources) { store in
            for application in try await store.applications() {
                let state = application.isSuspended ? "suspended" : "active"
                say(
                    "\(application.id)\t\(state)\t\(text(application.createdAt))\t\(application.name)"
                )
            }
        }
    }

    /// Refuses all tokens of an application from now on, or no longer.
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
            say("\(id)\t\(lifting ? "active" : "suspended")")
        }
    }

    static func application(_ text: String) throws(CommandFailure) -> Application.ID {
        guard let id = Application.ID(uuid: text) else {
            throw CommandFailure("\(text) is not the id of an application")
        }
        return id
    }
}

extension Command {
    /// Makes a token and prints its id and, for the only time, its secret.
    ///
    /// - Parameters:
    ///   - scope: `read`, `write` or `admin`.
    ///   - expiry: A time such as `30d` from now, or a moment such as `2030-01-31T00:00:00Z`.
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
                say("ID=\(created.token.id)\nTOKEN=\(created.secret)")
            } catch is Rejection {
                throw CommandFailure("there is no application \(application)")
            }
        }
    }

    /// Lists tokens: id, scope, state, time of creation, end, separated by tabs; never a secret.
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
                say(
                    "\(token.id)\t\(token.scope.rawValue)\t\(state)\t\(self.text(token.createdAt))\t\(end)"
                )
            }
        }
    }

    /// Refuses a token from now on; a running server follows within a second.
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
            say("\(id)\trevoked")
        }
    }
}

extension Command {
    /// Events that are read at once.
    private static let stretch = 100
    /// Between two looks for something new, in milliseconds.
    private static let pause: Int64 = 500

    /// Prints an application's log, a line for each event.
    ///
    /// - Parameters:
    ///   - place: The position behind which it begins; `nil` for the oldest event that is kept.
    ///   - following: Whether it goes on with what happens, until the reader is gone.
    public static func log(
        _ sources: SettingsSources, application text: String, after place: Int64?, following: Bool
    ) async throws -> Int32 {
        let application = try application(text)
        return try await withStore(sources) { store in
            guard try await store.application(application) != nil else {
                throw CommandFailure("there is no application \(application)")
            }
            var place = place.map(LogPosition.init)
            while true {
                let page = try await page(of: store, after: place, application)
                for shown in page.events {
                    let recorded = shown.recorded
                    say(EventLogLine.text(recorded.event, by: recorded.actor, at: recorded.at))
                }
                place = page.through
                guard !page.isCut else { continue }
                guard following else { return }
                // A server in another process writes the log: it is looked for.
                try await Task.sleep(for: .milliseconds(pause))
            }
        }
    }

    private static func page(
        of store: MessagingStore, after place: LogPosition?, _ application: Application.ID
    ) async throws -> EventPage {
        do {
            return try await store.eventPage(after: place, limit: stretch, in: application)
        } catch Rejection.positionGone(let oldest) {
            throw CommandFailure("the log is kept from position \(oldest.number) on")
        } catch Rejection.invalid {
            throw CommandFailure("the log ends before position \(place?.number ?? 0)")
        }
    }
}
