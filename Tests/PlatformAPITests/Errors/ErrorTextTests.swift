import JSON
import Messaging
import MessagingStore
import MessagingWire
import Testing

@testable import PlatformAPI

/// Every text that tells a client what is wrong with a request: each names the member and the rule, and no
/// two rules share one.
@Suite struct `Error texts` {
    /// A request that breaks one rule, and the message it is answered with.
    struct Case: Sendable, CustomTestStringConvertible {
        /// The rule; `nil` for an error that is not about the value of a member.
        let rule: ValidationRule?
        let status: Int
        /// The member that `data` names; `nil` where it names none.
        let property: String?
        let message: String
        let request: Sample

        var testDescription: String { "\(request.line) \(request.body.prefix(80)): \(message)" }
    }

    /// A request to the application of a scene in which the conversation `C` of `ana` holds the message `M`.
    struct Sample: Sendable {
        /// The method, and the path below the application.
        let line: String
        var body = ""
        var version = "1.1"
        /// The media type that `Accept` names; `nil` for that of the Platform API.
        var accept: String?
        var contentType: String?
        var fields: [(name: String, value: String)] = []
        /// The credential; `nil` for a good one.
        var authorization: String?
        var prepare: @Sendable (SampleApplication) async throws -> Void = { _ in }
    }

    @Test(arguments: rules + others)
    func `a message names the member and states the rule`(error: Case) async throws {
        let scene = try await Self.scene(error.request.version)
        try await error.request.prepare(scene)
        let before = try await scene.eventCount()
        let answer = try await Self.answer(to: error.request, in: scene)
        let json = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == error.status, "\(answer.body)")
        #expect(json["message"]?.string == error.message)
        #expect(json["data"]?["property"]?.string == error.property)
        #expect(try await scene.eventCount() == before)
    }

    @Test func `every rule is in the table`() {
        let missing = Set(ValidationRule.allCases).subtracting(Self.rules.compactMap(\.rule))
        #expect(missing.isEmpty)
    }

    @Test func `no two rules share a text`() {
        var rules: [String: Set<String>] = [:]
        for error in Self.rules + Self.others {
            rules[error.message, default: []]
                .insert(error.rule.map { rule in "\(rule)" } ?? error.request.line)
        }
        for (text, rules) in rules { #expect(rules.count == 1, "\(text): \(rules)") }
    }

    @Test(arguments: rules)
    func `a message is one sentence about its member by its rule`(error: Case) throws {
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
        let scene = try await Self.scene("3.0")
        let body = #"{"operation":"set","property":"metadata","value":{"a":5}}"#
        let answer = try await Self.answer(
            to: Sample(line: line, body: body, version: "3.0"), in: scene)
        let json = try JSONDocument(Array(answer.body.utf8)).root
        #expect(answer.status == 422)
        #expect(json["message"]?.string == message)
        #expect(json["data"]?["property"]?.string == "value")
    }

    @Test func `a client's text is cut and escaped`() {
        #expect("a\u{0}b\n`\u{202E}é\u{7F}".quoted == #"`a\0b\n\u{60}\u{202E}é\u{7F}`"#)
        let long = String(repeating: "\u{1}", count: 100_000).quoted
        #expect(long.utf8.count < 600 && long.hasSuffix("…`"))
        #expect(String(repeating: "x", count: 64).quoted.count == 66)
        #expect([0, 999, 1000, 1_234_567].map(\.grouped) == ["0", "999", "1,000", "1,234,567"])
    }

    /// A message without what was found, to compare texts by what they say.
    private static func form(of message: String) -> String {
        var form = message.split(separator: "; known are")[0].description
        form.replace(/; `[^`]*` is not known/, with: "")
        form.replace(/`[^`]*`/, with: "`")
        form.replace(/[0-9][0-9,]*/, with: "0")
        return form
    }

    // MARK: - Requests

    static func scene(_ version: String) async throws -> SampleApplication {
        var scene = try await SampleApplication.make(version: version)
        let conversation = try await scene.world.store.createConversation(
            Conversation.Draft(participants: [try #require(UserID("ana"))]), in: scene.application)
        let id = conversation.object.conversation.id
        let message = try await scene.world.store.sendMessage(
            Message.Draft(
                sender: .user(try #require(UserID("ana"))),
                parts: [MessagePart.Draft(mimeType: "a/b", body: .inline([1]))]), to: id,
            in: scene.application)
        scene.variables["C"] = id.uuid
        scene.variables["M"] = message.object.message.id.uuid
        return scene
    }

    static func answer(to sample: Sample, in scene: SampleApplication) async throws -> PlainAnswer {
        let parts = sample.line.split(separator: " ", maxSplits: 1)
        var fields = sample.fields
        fields.append(
            ("Accept", sample.accept ?? "application/vnd.layer+json; version=\(sample.version)"))
        let credential = sample.authorization ?? "Bearer {token}"
        if !credential.isEmpty { fields.append(("Authorization", credential)) }
        let type = parts[0] == "PATCH" ? "application/vnd.layer-patch+json" : "application/json"
        fields.append(("Content-Type", sample.contentType ?? type))
        return try await RouterClient(service: scene.world.service).ask(
            PlainRequest(
                method: String(parts[0]),
                target: try "/apps/{app}\(parts.count > 1 ? parts[1] : "")"
                    .filled(with: scene.variables),
                fields: try fields.map { ($0.name, try $0.value.filled(with: scene.variables)) },
                body: "", bytes: Array(sample.body.utf8)))
    }
}
