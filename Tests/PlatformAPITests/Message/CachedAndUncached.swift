import HTTP
import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

/// A few users and their conversations, changed at random and looked at by two interfaces over one
/// store: one remembers what it has answered, the other does not.
final class Play {
    let remembering: PlatformAPI
    let forgetful: PlatformAPI
    let scene: SampleApplication
    private let client: any TestClient
    private let members: [String]
    private var conversations: [String] = []
    private var messages: [(id: String, conversation: String)] = []

    init(
        _ version: String, in known: SampleApplication? = nil, by client: (any TestClient)? = nil,
        members: [String] = ["ana", "bo", "cy", "dee"]
    ) async throws {
        // A clock of its own: grants are believed for a second of it.
        let scene =
            if let known {
                known
            } else {
                try await SampleApplication.make(version: version, in: .separate())
            }
        self.scene = scene
        self.members = members
        remembering = scene.world.remembering(48 << 10)
        forgetful = scene.world.remembering(0)
        self.client = client ?? RouterClient(service: remembering)
        for _ in 0..<2 { try await converse() }
    }

    /// The id of a new message.
    func send() async throws -> String { try #require(try await sendIfAllowed()) }

    /// The same, or `nil` when its sender takes part no more.
    private func sendIfAllowed() async throws -> String? {
        let conversation = try #require(conversations.randomElement())
        let sent = try await scene.ask(
            "POST", "/apps/{app}/conversations/\(conversation)/messages",
            scene.variables["version"] == "1.1"
                ? #"{"sender":{"user_id":"\#(members[0])"},"parts":[{"mime_type":"a/b","body":"x"}]}"#
                : #"{"sender_id":"\#(members[0])","parts":[{"mime_type":"a/b","body":"x"}]}"#,
            by: client)
        guard let id = sent["Location"]?.split(separator: "/").last.map(String.init) else {
            return nil
        }
        messages.append((id, conversation))
        return id
    }

    /// One change of whatever kind; a refused one is as good.
    func changeSomething() async throws {
        let user = try #require(members.randomElement())
        let other = try #require(members.randomElement())
        let (message, conversation) = messages.randomElement() ?? ("x", conversations[0])
        let name = Int.random(in: 0..<5)
        let patch = [("Content-Type", "application/vnd.layer-patch+json")]
        switch Int.random(in: 0..<16) {
        case 0...3: _ = try await sendIfAllowed()
        case 4, 5:
            try await ask(
                "POST", "users/\(user)/messages/\(message)/receipts",
                #"{"type":"\#(Bool.random() ? "read" : "delivery")"}"#)
        case 6:
            try await ask("PUT", "users/\(user)/identity", #"{"display_name":"\#(name)"}"#)
        case 7: try await ask("DELETE", "users/\(user)/identity")
        case 8:
            try await ask("DELETE", "users/\(user)/messages/\(message)?mode=my_devices")
        case 9: try await ask("DELETE", "messages/\(message)")
        case 10, 11:
            let verb = Bool.random() ? "add" : "remove"
            try await ask(
                "PATCH", "conversations/\(conversation)",
                #"[{"operation":"\#(verb)","property":"participants","value":"\#(user)"}]"#, patch)
        case 12:
            try await ask(
                "DELETE", "users/\(user)/conversations/\(conversation)?mode=my_devices&leave=false")
        case 13:
            try await ask(
                "POST", "conversations/\(conversation)/messages/\(message)/parts",
                #"{"mime_type":"a/b","body":"\#(name)"}"#)
        case 14: try await ask("POST", "users/\(user)/blocks", #"{"user_id":"\#(other)"}"#)
        default:
            guard Int.random(in: 0..<6) == 0 else {
                return try await ask(
                    "POST", "users/\(user)/conversations/\(conversation)/mark_all_read", "{}")
            }
            try await ask("DELETE", "conversations/\(conversation)")
            conversations.removeAll { id in id == conversation }
            try await converse()
        }
    }

    /// Looks at a few messages in all ways.
    func compareSome() async throws {
        for (message, conversation) in messages.suffix(6).shuffled().prefix(3) {
            let user = try #require(members.randomElement())
            for path in [
                "messages/\(message)", "conversations/\(conversation)/messages/\(message)",
                "users/\(user)/messages/\(message)",
            ] {
                let expected = try await scene.ask(
                    "GET", "/apps/{app}/\(path)", by: RouterClient(service: forgetful))
                for _ in 0..<2 {
                    let cached = try await scene.ask(
                        "GET", "/apps/{app}/\(path)", by: RouterClient(service: remembering))
                    #expect(cached.status == expected.status)
                    #expect(cached.body == expected.body)
                    #expect(cached["ETag"] == expected["ETag"])
                    #expect(cached["Vary"] == expected["Vary"])
                }
            }
        }
    }

    private func converse() async throws {
        let list = members.map { user in "\"\(user)\"" }.joined(separator: ",")
        let made = try await scene.ask(
            "POST", "/apps/{app}/conversations", #"{"participants":[\#(list)],"distinct":false}"#,
            by: client)
        conversations.append(
            try #require(made["Location"]?.split(separator: "/").last.map(String.init)))
        _ = try await sendIfAllowed()
    }

    private func ask(
        _ method: String, _ path: String, _ body: String = "",
        _ fields: [(name: String, value: String)] = []
    ) async throws {
        _ = try await scene.ask(method, "/apps/{app}/\(path)", body, fields: fields, by: client)
    }
}

extension TestServer {
    /// Another interface over the same store, with so many bytes for what it remembers.
    fileprivate func remembering(_ budget: Int) -> PlatformAPI {
        var settings = service.api.settings
        settings.memory = budget
        let api = service.api
        return PlatformAPI(
            store: store, uploads: service.uploads, downloads: service.downloads,
            publicBase: PublicBaseURL(TestServer.base), settings: settings, clock: api.clock,
            newContentID: api.newContentID, resolveHost: api.resolveHost,
            onFault: api.onFault)
    }
}
