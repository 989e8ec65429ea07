import JSON
import Messaging
import MessagingStore
import MessagingWire
import TestSupport
import Testing

extension SampleApplication {
    var client: any TestClient { client(false) }

    func client(_ overSocket: Bool) -> any TestClient {
        overSocket ? SocketClient(port: server.port) : RouterClient(service: server.service)
    }

    /// The same application on another server, where it is empty.
    func empty(in server: TestServer) async throws -> SampleApplication {
        _ = try await server.store.createApplication(name: "empty", id: application)
        var copy = SampleApplication(server: server, application: application, variables: variables)
        copy.variables["token"] =
            try await server.store.createToken(for: application, scope: .admin).secret
        return copy
    }

    func exported(_ overSocket: Bool = false) async throws -> String {
        var answer = try await send("GET", "/apps/{app}/export", by: client(overSocket))
        // An earlier export that has sent its last line frees its slot a moment later.
        for _ in 0..<3000 where answer.status == 409 {
            try await Task.sleep(for: .milliseconds(20))
            answer = try await send("GET", "/apps/{app}/export", by: client(overSocket))
        }
        #expect(answer.status == 200, "\(answer)")
        #expect(answer["Content-Type"] == "application/jsonl")
        return answer.body
    }

    func importLines(_ lines: [UInt8], _ overSocket: Bool = false) async throws -> PlainAnswer {
        try await send(
            "POST", "/apps/{app}/import", fields: [("Content-Type", "application/jsonl")],
            bytes: lines, by: client(overSocket))
    }

    /// Reads all imported objects in every version, and uses them: sends, marks as read, adds parts, exports.
    /// No response may be an internal error.
    ///
    /// - Returns: The export at the end.
    @discardableResult
    func readEverything(_ comment: Comment) async throws -> String {
        var seen = try await importedObjects()
        let versions = TestRounds.areAll ? ["1.0", "1.1", "2.0", "3.0"] : ["1.0", "3.0"]
        for version in versions { try await self.withVersion(version).read(seen, comment) }
        try await self.withVersion("3.0").use(seen, comment)
        seen = try await importedObjects()
        let others = TestRounds.areAll ? versions : ["1.1", "2.0"]
        for version in others { try await self.withVersion(version).read(seen, comment) }
        try await readWebhookBodies()
        return try await exported()
    }

    /// The number of distinct conversations that are not deleted, by their participants.
    func distinctCounts() async throws -> [String: Int] {
        try await records("conversation").reduce(into: [:]) { counts, line in
            guard line["distinct"]?.bool == true, line["deleted_at"] == nil,
                let members = line["participants"]
            else { return }
            let users = members.elements.filter { $0["left_after"] == nil }
                .compactMap { $0["user_id"]?.string }
            counts[users.sorted().joined(separator: " "), default: 0] += 1
        }
    }

    private struct ImportedObjects {
        var users: [String] = []
        var conversations: [String] = []
        var messages: [String] = []
        var conversationsOfMessages: [String] = []
        var contents: [String] = []
        var announcements: [String] = []
    }

    private func records(_ kind: String) async throws -> [JSONValue] {
        try await exported().split(separator: "\n").compactMap { line in
            let root = try JSONDocument(Array(line.utf8)).root
            return root["record"]?.string == kind ? root : nil
        }
    }

    private func importedObjects() async throws -> ImportedObjects {
        var objects = ImportedObjects()
        for line in try await exported().split(separator: "\n") {
            let root = try JSONDocument(Array(line.utf8)).root
            let id = root["id"]?.string ?? ""
            switch root["record"]?.string {
            case "user": objects.users.append(root["user_id"]?.string ?? "")
            case "conversation": objects.conversations.append(id)
            case "message":
                objects.messages.append(id)
                objects.conversationsOfMessages.append(root["conversation"]?.string ?? "")
            case "content": objects.contents.append(id)
            case "announcement": objects.announcements.append(id)
            default: break
            }
        }
        return objects
    }

    private func withVersion(_ version: String) -> SampleApplication {
        var sample = self
        sample.variables["version"] = version
        return sample
    }

    private func get(_ path: String, _ comment: Comment) async throws {
        let answer = try await send("GET", "/apps/{app}\(path)", by: client)
        #expect(answer.status < 500, "\(comment): GET \(path): \(answer)")
    }

    private func read(_ objects: ImportedObjects, _ comment: Comment) async throws {
        for path in ["/conversations", "/users", "/webhooks", "/users?page_size=1"] {
            try await get(path, comment)
        }
        for id in objects.conversations {
            for query in ["", "?as_of=1", "?as_of=9"] {
                try await get("/conversations/\(id)\(query)", comment)
                try await get("/conversations/\(id)/messages\(query)", comment)
            }
        }
        for (id, conversation) in zip(objects.messages, objects.conversationsOfMessages) {
            try await get("/messages/\(id)", comment)
            let message = "/conversations/\(conversation)/messages/\(id)"
            for path in ["", "?include=transfer", "?inline_max_size=1048576", "/parts", "/parts/1"]
            {
                try await get(message + path, comment)
            }
        }
        for id in objects.contents { try await get("/content/\(id)?include=transfer", comment) }
        for id in objects.announcements { try await get("/announcements/\(id)", comment) }
        for user in objects.users.map(Self.encoded) {
            for path in [
                "", "/conversations", "/conversations?sort_by=last_message", "/badge", "/identity",
                "/blocks", "/following", "/identities", "/announcements",
                "/conversations?distinct=true&created_after=0001-01-01T00:00:00Z",
            ] {
                try await get("/users/\(user)\(path)", comment)
            }
            for id in objects.conversations {
                try await get("/users/\(user)/conversations/\(id)", comment)
                try await get("/users/\(user)/conversations/\(id)/messages", comment)
                try await get(
                    "/users/\(user)/conversations/\(id)/messages?unread_by=\(user)"
                        + "&sent_after=0001-01-01T00:00:00Z", comment)
            }
            for id in objects.messages {
                try await get("/users/\(user)/messages/\(id)", comment)
                try await get("/users/\(user)/messages/\(id)/parts", comment)
            }
            for id in objects.announcements {
                try await get("/users/\(user)/announcements/\(id)", comment)
            }
        }
        let events = try await send("GET", "/apps/{app}/events?after=0&limit=1000", by: client)
        #expect([200, 406].contains(events.status), "\(comment): \(events)")
    }

    /// Renders every webhook body in each version.
    ///
    /// - Returns: The number of bodies.
    @discardableResult
    func readWebhookBodies() async throws -> Int {
        let links = LinkBuilder(publicBase: TestServer.base, application: application)
        let topics = Set(WebhookTopic.allCases)
        var (checkpoint, count) = (WebhookCheckpoint(after: .start), 0)
        while true {
            let range = try await server.store.webhookEvents(
                after: checkpoint, to: [.v1_0: topics, .v2_0: topics, .v3_0: topics], limit: 100,
                in: application)
            for event in range.events {
                var writer = JSONWriter()
                let version: APIVersion = event.versions.contains(.v1_0) ? .v1_0 : .v3_0
                let presentation = Presentation(version: version, links: links) { _ in
                    (TestServer.base, event.at.milliseconds)
                }
                WebhookEventJSON.write(event, presentation, into: &writer)
                _ = try JSONDocument(writer.finish())
            }
            (checkpoint, count) = (range.next, count + range.events.count)
            guard range.isCut else { return count }
        }
    }

    private func use(_ objects: ImportedObjects, _ comment: Comment) async throws {
        func post(_ path: String, _ body: String) async throws {
            let answer = try await send("POST", "/apps/{app}\(path)", body, by: client)
            #expect(answer.status < 500, "\(comment): POST \(path): \(answer)")
        }
        let part = #"{"mime_type":"text/plain","body":"more"}"#
        for id in objects.conversations {
            let patched = try await send(
                "PATCH", "/apps/{app}/conversations/\(id)",
                """
                [{"operation":"set","property":"metadata.a","value":"later"},\
                {"operation":"add","property":"participants","value":"dee"}]
                """, fields: [("Content-Type", "application/vnd.layer-patch+json")], by: client)
            #expect(patched.status < 500, "\(comment): PATCH \(id): \(patched)")
            try await post(
                "/conversations/\(id)/messages",
                #"{"sender":{"name":"Billing"},"parts":[\#(part)]}"#)
        }
        for (id, conversation) in zip(objects.messages, objects.conversationsOfMessages) {
            try await post("/conversations/\(conversation)/messages/\(id)/parts", part)
        }
        for user in objects.users.map(Self.encoded) {
            for id in objects.conversations {
                let conversation = "/users/\(user)/conversations/\(id)"
                try await post("\(conversation)/messages", #"{"parts":[\#(part)]}"#)
                try await post("\(conversation)/mark_all_read", #"{"position":9007199254740991}"#)
                try await post("\(conversation)/mark_all_read", "{}")
            }
            for id in objects.messages {
                try await post("/users/\(user)/messages/\(id)/receipts", #"{"type":"read"}"#)
                try await post("/users/\(user)/messages/\(id)/parts", part)
            }
        }
    }

    private static func encoded(_ user: String) -> String {
        user.utf8.map { byte in
            let hex = String(byte, radix: 16, uppercase: true)
            return "%" + (hex.count < 2 ? "0" : "") + hex
        }.joined()
    }
}
