import JSON
import Messaging
import MessagingStore
import MessagingWire
import Testing

@testable import PlatformAPI

/// Every text of an error about a request: each names the member and states the rule, and no two rules share
/// a text.
@Suite struct `Error texts` {
    /// A request that violates one rule, and the expected message.
    struct Case: Sendable, CustomTestStringConvertible {
        /// The rule; `nil` for other errors.
        let rule: ValidationRule?
        let status: Int
        /// The `property` in `data`; `nil` without one.
        let property: String?
        let message: String
        let request: SampleRequest

        var testDescription: String { "\(request.line) \(request.body.prefix(80)): \(message)" }
    }

    /// A request to a sample application in which the conversation `C` of `ana` has the message `M`.
    struct SampleRequest: Sendable {
        /// The method, and the path below the application.
        let line: String
        var body = ""
        var version = "1.1"
        /// The media type in `Accept`; `nil` for that of the Platform API.
        var accept: String?
        var contentType: String?
        var fields: [(name: String, value: String)] = []
        /// The credential; `nil` for a valid one.
        var authorization: String?
        /// Whether it is a request of the Client API with the session of `ana`.
        var isOfClient = false
        var prepare: @Sendable (SampleApplication) async throws -> Void = { _ in }
    }

    @Test(arguments: rules + others)
    func `a message names the member and states the rule`(error: Case) async throws {
        let sample = try await Self.sample(
            error.request.version, hasSession: error.request.isOfClient)
        try await error.request.prepare(sample)
        let before = try await sample.eventCount()
        let answer = try await Self.answer(to: error.request, in: sample)
        let json = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == error.status, "\(answer.body)")
        #expect(json["message"]?.string == error.message)
        #expect(json["data"]?["property"]?.string == error.property)
        #expect(try await sample.eventCount() == before)
    }

    @Test func `the table has a case for every rule`() {
        let missing = Set(ValidationRule.allCases).subtracting(Self.rules.compactMap(\.rule))
        #expect(missing.isEmpty)
    }

    @Test func `every rule has its own text`() {
        var rules: [String: Set<String>] = [:]
        for error in Self.rules + Self.others {
            rules[error.message, default: []]
                .insert(error.rule.map { rule in "\(rule)" } ?? error.request.line)
        }
        for (text, rules) in rules { #expect(rules.count == 1, "\(text): \(rules)") }
    }

    @Test(arguments: rules)
    func `a message is one sentence made by its rule`(error: Case) throws {
        #expect(error.message.hasSuffix(".") && !error.message.dropLast().contains(". "))
        let rule = try #require(error.rule)
        let property = try #require(error.property)
        #expect(error.message.contains(try #require(property.split(separator: ".").first)))
        let details = [
            Rejection.Detail(), .init(amount: 0), .init(path: "x", text: "x"),
            .init(path: "x", text: ""), .init(path: "x", text: "x y"),
        ]
        let forms = details.map { detail in Self.form(of: rule.sentence(property, detail)) }
        #expect(forms.contains(Self.form(of: error.message)), "not the text of \(rule)")
    }

    @Test(arguments: [
        (
            "PATCH /conversations/{C}",
            "`metadata.a` must be a string or an object; other types are not stored in metadata."
        ),
        ("PATCH /users/ana/identity", "`metadata.a` of an identity must be a string."),
    ]) func `a patch of metadata names the path of the invalid value`(
        line: String, message: String
    ) async throws {
        let sample = try await Self.sample("3.0")
        let body = #"{"operation":"set","property":"metadata","value":{"a":5}}"#
        let answer = try await Self.answer(
            to: SampleRequest(line: line, body: body, version: "3.0"), in: sample)
        let json = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == 422)
        #expect(json["message"]?.string == message)
        #expect(json["data"]?["property"]?.string == "value")
    }

    @Test func `a client's text is truncated and escaped`() {
        #expect("a\u{0}b\n`\u{202E}é\u{7F}".quoted == #"`a\0b\n\u{60}\u{202E}é\u{7F}`"#)
        let long = String(repeating: "\u{1}", count: 100_000).quoted
        #expect(long.utf8.count < 600 && long.hasSuffix("…`"))
        #expect(String(repeating: "x", count: 64).quoted.count == 66)
        #expect([0, 999, 1000, 1_234_567].map(\.grouped) == ["0", "999", "1,000", "1,234,567"])
    }

    /// The message without the client's values, to compare texts.
    private static func form(of message: String) -> String {
        var form = message.split(separator: "; known are")[0].description
        form.replace(/; `[^`]*` is not known/, with: "")
        form.replace(/`[^`]*`/, with: "`")
        form.replace(/[0-9][0-9,]*/, with: "0")
        return form
    }

    // MARK: - Requests

    static func sample(
        _ version: String, hasSession: Bool = false
    ) async throws -> SampleApplication {
        var sample = try await SampleApplication.make(version: version)
        let conversation = try await sample.server.store.createConversation(
            Conversation.Draft(participants: [try #require(UserID("ana"))]), in: sample.application)
        let id = conversation.object.conversation.id
        let message = try await sample.server.store.sendMessage(
            Message.Draft(
                sender: .user(try #require(UserID("ana"))),
                parts: [MessagePart.Draft(mimeType: "a/b", body: .inline([1]))]), to: id,
            in: sample.application)
        sample.variables["C"] = id.uuid
        sample.variables["M"] = message.object.message.id.uuid
        guard hasSession else { return sample }
        sample.variables["session"] = try await sample.server.store.beginDevelopmentSession(
            of: try #require(UserID("ana")), in: sample.application
        ).token
        return sample
    }

    static func answer(to request: SampleRequest, in sample: SampleApplication) async throws
        -> PlainAnswer
    {
        let parts = request.line.split(separator: " ", maxSplits: 1)
        var fields = request.fields
        fields.append(
            ("Accept", request.accept ?? "application/vnd.layer+json; version=\(request.version)"))
        let valid = request.isOfClient ? "Layer session-token={session}" : "Bearer {token}"
        let credential = request.authorization ?? valid
        if !credential.isEmpty { fields.append(("Authorization", credential)) }
        let type = parts[0] == "PATCH" ? "application/vnd.layer-patch+json" : "application/json"
        fields.append(("Content-Type", request.contentType ?? type))
        return try await RouterClient(service: sample.server.service).send(
            PlainRequest(
                method: String(parts[0]),
                target: try
                    "\(request.isOfClient ? "" : "/apps/{app}")\(parts.count > 1 ? parts[1] : "")"
                    .filled(with: sample.variables),
                fields: try fields.map { ($0.name, try $0.value.filled(with: sample.variables)) },
                body: "", bytes: Array(request.body.utf8)))
    }
}
