import Messaging
import MessagingStore
import Testing

/// The examples of all endpoints, sent for other users and with other credentials than those that created their objects.
@Suite struct `Access across users and applications` {
    /// What only those may name that see the object.
    private static let objects = [
        "{conversation}", "{message}", "{part}", "{announcement}", "{content}",
    ]

    @Test(arguments: DescribedRoute.clients.filter(\.needsCredential))
    func `a session shows nothing of other users and of other applications (R14, R51)`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        var owner = try await route.examples()
        try await owner.prepare(operation)
        let request = try owner.request(operation)
        // An identity may be read by all users of its application (client-api 4.6).
        let isForeignOnly = operation.path == "/identities/{identity}"
        let isOfObject = Self.objects.contains { name in operation.path.contains(name) }
        var others = [try await session(of: "zoe", isForeign: true, beside: owner)]
        if !isForeignOnly {
            others.append(try await session(of: "zoe", isForeign: false, beside: owner))
        }
        let before = try await owner.sample.eventCount()
        for other in others {
            let answer = try await owner.client.send(request.with(session: other))
            let comment = Comment(rawValue: "\(answer)")
            #expect(!isOfObject && !isForeignOnly || answer.status == 404, comment)
            #expect(answer.status < 500, comment)
            #expect(owner.description.problem(answer, of: operation) == nil, comment)
            let secrets = owner.ids.filter { id in id != owner.sample.application.uuid }
            for text in secrets + Self.texts where !request.contains(text) {
                #expect(!answer.body.contains(text), comment)
                #expect(!answer.fields.contains { field in field.value.contains(text) }, comment)
            }
        }
        let after = try await owner.sample.eventCount()
        #expect(!isOfObject || after == before)
    }

    @Test(arguments: DescribedRoute.platform)
    func `a session of a user is no token of the application (1_4)`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        let examples = try await route.examples()
        var request = try examples.request(operation)
        let session = try await session(of: "bo", isForeign: false, beside: examples)
        let before = try await examples.sample.eventCount()
        for credential in ["Layer session-token=\"\(session)\"", "Bearer \(session)"] {
            request.fields.removeAll { field in field.name == "Authorization" }
            request.fields.append(("Authorization", credential))
            let answer = try await examples.client.send(request)
            #expect(answer.status == 401, "\(answer)")
            #expect(examples.description.problem(answer, of: operation) == nil)
        }
        request.fields.removeAll { field in field.name == "Authorization" }
        request.target += (request.target.contains("?") ? "&" : "?") + "session_token=\(session)"
        #expect(try await examples.client.send(request).status == 401)
        #expect(try await examples.sample.eventCount() == before)
    }

    /// Texts of the messages and the metadata that the examples create.
    private static let texts = ["keys", "mat", "Water off"]

    private func session(
        of user: String, isForeign: Bool, beside examples: DescriptionExamples
    ) async throws -> String {
        let store = examples.sample.server.store
        let application =
            isForeign
            ? try await store.createApplication(name: "foreign").id : examples.sample.application
        return try await store.beginDevelopmentSession(
            of: try #require(UserID(user)), in: application
        ).token
    }
}

extension PlainRequest {
    /// The request with the session of another user.
    fileprivate func with(session: String) -> PlainRequest {
        var request = self
        request.fields.removeAll { field in field.name == "Authorization" }
        request.fields.append(("Authorization", "Layer session-token=\"\(session)\""))
        return request
    }

    /// Whether it names a text itself.
    fileprivate func contains(_ text: String) -> Bool {
        target.contains(text) || String(decoding: content, as: UTF8.self).contains(text)
            || fields.contains { field in field.value.contains(text) }
    }
}
