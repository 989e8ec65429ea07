public import Messaging
import SQL

extension MessagingStore {
    /// Makes an application; one that has this id already is returned as it is.
    ///
    /// - Parameter id: `nil` for a new one.
    public func createApplication(
        name: String, id: Application.ID? = nil
    ) async throws -> Application {
        let id = id ?? environment.newID()
        return try await change(in: id) { recording in
            if let known = try recording.transaction.application(id) { return known }
            let application = Application(id: id, name: name, createdAt: recording.now)
            try recording.record(.applicationCreated(application))
            return application
        }
    }

    /// All applications, oldest first.
    public func applications() async throws -> [Application] {
        try await database.read { transaction in
            try transaction.rows(
                """
                SELECT application, name, created_at, is_suspended, session_lifetime FROM applications
                ORDER BY created_at, application
                """
            ) { row in try Application(row) }
        }
    }

    /// One application; `nil` when there is none with this id.
    public func application(_ id: Application.ID) async throws -> Application? {
        try await database.read { transaction in try transaction.application(id) }
    }

    /// Suspends an application, or sets it free again; saying so twice changes nothing.
    ///
    /// - Throws: `Rejection.notFound(.application)`.
    public func suspendApplication(_ id: Application.ID, _ isSuspended: Bool) async throws {
        try await change(in: id) { recording in
            guard let application = try recording.transaction.application(id) else {
                throw Rejection.notFound(.application)
            }
            guard application.isSuspended != isSuspended else { return }
            try recording.record(.applicationSuspended(id, isSuspended))
        }
        authentication.forget()
    }
}
