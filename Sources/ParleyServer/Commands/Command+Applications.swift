import Messaging
import MessagingStore

extension Command {
    /// Makes an application and prints its id.
    public static func createApplication(_ sources: SettingsSources, name: String) async throws
        -> Int32
    {
        guard !name.isEmpty, name.utf8.count <= 200 else {
            throw StartFailure("the name of an application has 1 to 200 bytes")
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
                throw StartFailure("there is no application \(id)")
            }
            say("\(id)\t\(lifting ? "active" : "suspended")")
        }
    }

    static func application(_ text: String) throws(StartFailure) -> Application.ID {
        guard let id = Application.ID(uuid: text) else {
            throw StartFailure("\(text) is not the id of an application")
        }
        return id
    }
}
