import Messaging
import MessagingStore

/// The application that is there before anybody has made one (X12).
struct FirstApplication {
    let store: MessagingStore
    let settings: Settings

    /// Makes the application of `app.id` with the token of `app.token`, whichever is missing.
    func makeConfigured() async throws {
        guard let text = settings.applicationID, let id = Application.ID(uuid: text),
            let secret = settings.applicationToken
        else { return }
        do {
            // Both do nothing when it is there already.
            _ = try await store.createApplication(name: "from the environment", id: id)
            _ = try await store.createToken(for: id, scope: .admin, secret: secret)
        } catch is Rejection {
            throw StartFailure("app.token belongs to another application, or has been revoked")
        }
    }

    /// Makes one where there is none.
    ///
    /// - Returns: What to tell whoever started the server, or `nil` when there was one already.
    func makeIfNone() async throws -> String? {
        guard try await store.applications().isEmpty else { return nil }
        // Several processes may start at once on a new database.
        let lease = Lease("first application", of: store)
        let news = try await lease.hold { try await make() }
        await lease.release()
        return news ?? nil
    }

    private func make() async throws -> String? {
        guard try await store.applications().isEmpty else { return nil }
        let application = try await store.createApplication(name: "first")
        let created = try await store.createToken(for: application.id, scope: .admin)
        return """
            This is the first start, so an application has been made. Its token is shown only now.

            APP=\(application.id)
            TOKEN=\(created.secret)

            Try it:

            \(FirstRequest(settings: settings).curl)/apps/\(application.id)/conversations \
            -H 'Authorization: Bearer \(created.secret)' \
            -H 'Accept: application/vnd.layer+json; version=3.0' \
            -d '{"participants": ["ana", "bo"], "distinct": true}'

            """
    }
}
