import HTTP
import Messaging
import MessagingStore
import Testing

@testable import PlatformAPI

/// A few users and their conversations, changed at random and read through two interfaces over one
/// store, one with a cache and one without.
final class CachedAndUncached {
    let cached: PlatformAPI
    let uncached: PlatformAPI
    let sample: SampleApplication
    private let client: any TestClient
    private let members: [String]
    private var conversations: [String] = []
    private var messages: [(id: String, conversation: String)] = []

    init(
        _ version: String, in known: SampleApplication? = nil, by client: (any TestClient)? = nil,
        members: [String] = ["ana", "bo", "cy", "dee"]
    ) async throws {
        // Its own clock: grants are cached for a second of it.
        let sample =
            if let known {
                known
            } else {
                try await SampleApplication.make(version: version, in: .separate())
            }
        self.sample = sample
        self.members = members
        cached = sample.server.withCache(48 << 10)
        uncached = sample.server.withCache(0)
        self.client = client ?? RouterClient(service: cached)
        for _ in 0..<2 { try await createConversation() }
    }

    /// Sends a message, and returns its id.
    func send() async throws -> String { try #require(try await sendIfAllowed()) }

    /// The same, or `nil` if the sender is no longer a participant.
    private func sendIfAllowed() async throws -> String? {
        let conversation = try #require(conversations.randomElement())
        let sent = try await sample.send(
            "POST", "/apps/{app}/conversations/\(conversation)/messages",
            sample.variables["version"] == "1.1"
                ? #"{"sender":{"user_id":"\#(members[0])"},"parts":[{"mime_type":"a/b","body":"x"}]}"#
                : #"{"sender_id":"\#(members[0])","parts":[{"mime_type":"a/b","body":"x"}]}"#,
            by: client)
        guard let id = sent["Location"]?.split(separator: "/").last.map(String.init) else {
            return nil
        }
        messages.append((id, conversation))
        return id
    }

    /// Makes a random change, which may be rejected.
    func changeSomething() async throws {
        let user = try #require(members.randomElement())
        let other = try #require(members.randomElement())
        let (message, conversation) = messages.randomElement() ?? ("x", conversations[0])
        let name = Int.random(in: 0..<5)
        let patch = [("Content-Type", "application/vnd.layer-patch+json")]
        switch Int.random(in: 0..<16) {
        case 0...3: _ = try await sendIfAllowed()
        case 4, 5:
            try await send(
                "POST", "users/\(user)/messages/\(message)/receipts",
                #"{"type":"\#(Bool.random() ? "read" : "delivery")"}"#)
        case 6:
            try await send("PUT", "users/\(user)/identity", #"{"display_name":"\#(name)"}"#)
        case 7: try await send("DELETE", "users/\(user)/identity")
        case 8:
            try await send("DELETE", "users/\(user)/messages/\(message)?mode=my_devices")
        case 9: try await send("DELETE", "messages/\(message)")
        case 10, 11:
            let verb = Bool.random() ? "add" : "remove"
            try await send(
                "PATCH", "conversations/\(conversation)",
                #"[{"operation":"\#(verb)","property":"participants","value":"\#(user)"}]"#, patch)
        case 12:
            try await send(
                "DELETE", "users/\(user)/conversations/\(conversation)?mode=my_devices&leave=false")
        case 13:
            try await send(
                "POST", "conversations/\(conversation)/messages/\(message)/parts",
                #"{"mime_type":"a/b","body":"\#(name)"}"#)
        case 14: try await send("POST", "users/\(user)/blocks", #"{"user_id":"\#(other)"}"#)
        default:
            guard Int.random(in: 0..<6) == 0 else {
                return try await send(
                    "POST", "users/\(user)/conversations/\(conversation)/mark_all_read", "{}")
            }
            try await send("DELETE", "conversations/\(conversation)")
            conversations.removeAll { id in id == conversation }
            try await createConversation()
        }
    }

    /// Reads a few messages through both interfaces, and compares them.
    func compareSome() async throws {
        for (message, conversation) in messages.suffix(6).shuffled().prefix(3) {
            let user = try #require(members.randomElement())
            for path in [
                "messages/\(message)", "conversations/\(conversation)/messages/\(message)",
                "users/\(user)/messages/\(message)",
            ] {
                let expected = try await sample.send(
                    "GET", "/apps/{app}/\(path)", by: RouterClient(service: uncached))
                for _ in 0..<2 {
                    let actual = try await sample.send(
                        "GET", "/apps/{app}/\(path)", by: RouterClient(service: cached))
                    #expect(actual.status == expected.status)
                    #expect(actual.body == expected.body)
                    #expect(actual["ETag"] == expected["ETag"])
                    #expect(actual["Vary"] == expected["Vary"])
                }
            }
        }
    }

    /// Reads lists of messages, whole and page by page, through both interfaces, and compares them.
    func compareLists() async throws {
        let user = try #require(members.randomElement())
        for conversation in conversations {
            for path in [
                "conversations/\(conversation)/messages",
                "users/\(user)/conversations/\(conversation)/messages",
            ] {
                try await compare("\(path)?page_size=100")
                var next: String? = "\(path)?page_size=3"
                while let page = next { next = try await compare(page) }
            }
        }
    }

    /// Compares a page of a list, and returns the path of the next one.
    @discardableResult
    private func compare(_ path: String) async throws -> String? {
        let expected = try await sample.send(
            "GET", "/apps/{app}/\(path)", by: RouterClient(service: uncached))
        for _ in 0..<2 {
            let actual = try await sample.send(
                "GET", "/apps/{app}/\(path)", by: RouterClient(service: cached))
            #expect(actual.status == expected.status)
            #expect(actual.body == expected.body)
            for name in ["Layer-Count", "Link", "Vary", "Content-Type", "Cache-Control"] {
                #expect(actual[name] == expected[name])
            }
        }
        let link = expected["Link"]?.split(separator: ">").first?.split(separator: "/apps/").last
        return link.flatMap { link in
            link.firstIndex(of: "/").map { slash in String(link[slash...].dropFirst()) }
        }
    }

    private func createConversation() async throws {
        let list = members.map { user in "\"\(user)\"" }.joined(separator: ",")
        let made = try await sample.send(
            "POST", "/apps/{app}/conversations", #"{"participants":[\#(list)],"distinct":false}"#,
            by: client)
        conversations.append(
            try #require(made["Location"]?.split(separator: "/").last.map(String.init)))
        _ = try await sendIfAllowed()
    }

    private func send(
        _ method: String, _ path: String, _ body: String = "",
        _ fields: [(name: String, value: String)] = []
    ) async throws {
        _ = try await sample.send(method, "/apps/{app}/\(path)", body, fields: fields, by: client)
    }
}

extension TestServer {
    /// Another interface over the same store, with this cache size in bytes.
    fileprivate func withCache(_ budget: Int) -> PlatformAPI {
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
