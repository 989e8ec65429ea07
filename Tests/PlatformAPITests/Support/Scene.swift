import Messaging
import MessagingStore
import Testing

/// An application with its tokens, and what exchanges have remembered so far.
struct Scene: Sendable {
    private(set) var world: World
    let application: Application.ID
    var variables: [String: String]

    /// A fresh application, and others to be refused for.
    static func make(version: String = "1.1", in world: World? = nil) async throws -> Scene {
        let world = if let world { world } else { try await World.shared }
        let store = world.store
        let application = try await store.createApplication(name: "test").id
        let other = try await store.createApplication(name: "other").id
        let suspended = try await store.createApplication(name: "suspended").id
        let past = Timestamp(milliseconds: 1)
        var variables = [
            "base": World.base, "version": version, "app": application.uuid,
            "APP": application.uuid.uppercased(),
            "other_app": other.uuid, "suspended_app": suspended.uuid,
        ]
        variables["token"] = try await store.createToken(for: application, scope: .admin).secret
        variables["read_token"] = try await store.createToken(for: application, scope: .read).secret
        variables["write_token"] =
            try await store.createToken(for: application, scope: .write).secret
        variables["expired_token"] =
            try await store.createToken(for: application, scope: .admin, expiresAt: past).secret
        variables["other_token"] = try await store.createToken(for: other, scope: .admin).secret
        variables["suspended_token"] =
            try await store.createToken(for: suspended, scope: .admin).secret
        try await store.suspendApplication(suspended, true)
        return Scene(world: world, application: application, variables: variables)
    }

    /// The same scene after a restart of its own world.
    func reopened(
        holding quota: Int64? = nil, limits: MessagingLimits = MessagingLimits()
    ) async throws -> Scene {
        var scene = self
        scene.world = try await world.reopened(holding: quota, limits: limits)
        return scene
    }

    /// The events of the application's log behind a position.
    func events(after position: Int64 = 0) async throws -> [Event] {
        try await world.store.events(
            after: LogPosition(position), limit: 100_000, in: application
        ).map(\.event)
    }

    /// How many events the application's log holds.
    func eventCount() async throws -> Int {
        try await world.store.events(after: .start, limit: 100_000, in: application).count
    }

    /// Sends a request with its variables filled in.
    func ask(_ request: PlainRequest, by door: any Door) async throws -> PlainAnswer {
        try await door.ask(
            PlainRequest(
                method: request.method, target: try path(request.target.filled(with: variables)),
                fields: try request.fields.map { ($0.name, try $0.value.filled(with: variables)) },
                body: try request.body.filled(with: variables)))
    }

    /// A JSON request in the scene's version, with its strongest token.
    func ask(
        _ method: String, _ target: String, _ body: String = "",
        fields: [(name: String, value: String)] = [], octets: [UInt8]? = nil, by door: any Door
    ) async throws -> PlainAnswer {
        let standard = [
            (name: "Authorization", value: "Bearer {token}"),
            (name: "Accept", value: "application/vnd.layer+json; version={version}"),
        ]
        return try await door.ask(
            PlainRequest(
                method: method, target: target.filled(with: variables),
                fields: (standard + fields).map { ($0.name, try $0.value.filled(with: variables)) },
                body: body, octets: octets))
    }

    private func path(_ url: String) throws -> String {
        url.hasPrefix(World.base) ? String(url.dropFirst(World.base.count)) : url
    }
}
