import HTTP
import JSON
import MessagingWire
import PlatformAPI
import Testing

/// Every member of every body and every parameter of every endpoint, wrong in every way its
/// description knows.
@Suite struct `Mistakes made of the description` {
    /// Where a reader takes more than is described, so that old clients go on working.
    private static let tolerated: Set<String> = [
        // The recipients of a notification in the form of another version (platform-api §5.6).
        "notification.recipients"
    ]

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `a wrong body is refused with its member, and nothing is stored (R28, R114)`(
        line: String, version: APIVersion
    ) async throws {
        guard let (unready, operation) = try await play(line, version),
            let schema = operation.jsonBody?["schema"]
        else { return }
        var play = unready
        try await play.prepare(operation)
        let before = try await play.scene.eventCount()
        let mistakes = try Mistakes(
            in: play.body(of: operation), schema, of: play.description.root)
        #expect(!mistakes.all.isEmpty)
        for mistake in mistakes.all {
            if mistake.code == 105, Self.tolerated.contains(mistake.path.joined(separator: ".")) {
                continue
            }
            let answer = try await play.send(operation, body: mistake.body)
            let place = Comment(rawValue: "\(mistake): \(answer.status) \(answer.body)")
            #expect(play.description.problem(answer, of: operation) == nil, place)
            let error = try? JSONDocument(Array(answer.body.utf8)).root
            let isRefused = [400, 422].contains(answer.status)
            #expect(isRefused && (answer.status == 400) == (error?["code"]?.integer == 10), place)
            #expect(fits(error, mistake, operation), place)
            #expect(error?["code"]?.integer != 105 || Self.statesRule(error), place)
            guard try await play.scene.eventCount() == before else {
                Issue.record("it left a trace: \(place)")
                return
            }
        }
    }

    @Test(arguments: Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }, APIVersion.allCases)
    func `a wrong parameter is refused by its name, and nothing is stored (1_10, ruling 7)`(
        line: String, version: APIVersion
    ) async throws {
        guard let (unready, operation) = try await play(line, version) else { return }
        var play = unready
        try await play.prepare(operation)
        let before = try await play.scene.eventCount()
        for parameter in operation.json["parameters"]?.elements ?? operation.json.elements {
            guard let name = parameter["name"]?.string, let place = parameter["in"]?.string,
                let schema = parameter["schema"]
            else { continue }
            for bad in Self.texts(not: schema, of: play.description.root, at: place) {
                let answer = try await play.send(operation, parameters: [name: bad])
                let said = Comment(rawValue: "\(name)=\(bad.prefix(60)): \(answer)")
                #expect(play.description.problem(answer, of: operation) == nil, said)
                let status =
                    switch (place, name) {
                    case ("path", "app"): 403
                    case ("path", _): 404
                    case (_, "If-None-Match"): 400
                    default: 422
                    }
                #expect(answer.status == status, said)
                guard status == 422 else { continue }
                #expect(answer.body.contains(#""property":"\#(name)""#), said)
                let error = try JSONDocument(Array(answer.body.utf8)).root
                #expect(Self.statesRule(error), said)
            }
            if parameter["required"]?.bool == true, place != "path" {
                let answer = try await play.send(operation, parameters: [name: String?.none])
                #expect(answer.body.contains(#""code":104"#), "\(name): \(answer)")
            }
        }
        #expect(try await play.scene.eventCount() == before)
    }

    private func play(
        _ line: String, _ version: APIVersion
    ) async throws -> (DescriptionExamples, DescribedAPI.Operation)? {
        guard
            let operation = try await DescribedAPI.of(version.rawValue).operations
                .first(where: { "\($0.method) \($0.path)" == line })
        else { return nil }
        return (try await DescriptionExamples(version: version.rawValue), operation)
    }

    /// Whether an error speaks of the mistake.
    ///
    /// What is wrong deep inside is named by a member that holds it, and a value that lacks members by
    /// the first of these. Parts are `parts` wherever they stand; an operand of a patch is `value`, or
    /// the property it is for (ruling 5).
    private func fits(
        _ error: JSONValue?, _ mistake: Mistakes.Mistake, _ operation: DescribedAPI.Operation
    ) -> Bool {
        guard let code = error?["code"]?.integer else { return false }
        if mistake.code == 10 { return code == 10 }
        // An element of the body itself has no name.
        guard !mistake.path.isEmpty else { return [10, 104, 105].contains(code) }
        guard code == mistake.code || code == 104, let named = error?["data"]?["property"]?.string
        else { return false }
        if operation.method == "PATCH" {
            return [mistake.path[0], "value"].contains(named) || operation.subjects.contains(named)
        }
        let path = mistake.path.joined(separator: ".")
        return [path, "parts.\(path)"].contains { path in
            named == path || path.hasPrefix(named + ".") || named.hasPrefix(path + ".")
        }
    }

    /// Whether the message of a rejection states a rule and ends as a sentence; what each says is in the
    /// table of error texts.
    private static func statesRule(_ error: JSONValue?) -> Bool {
        guard let message = error?["message"]?.string else { return false }
        return message.hasSuffix(".") && !message.hasPrefix("Object is missing")
    }

    /// Texts that a parameter's schema does not allow.
    private static func texts(
        not schema: JSONValue, of root: JSONValue, at place: String
    ) -> [String] {
        let check = SchemaCheck(root: root)
        return [
            "0", "-1", "1.5", "x", "00000000-0000-0000-0000-00000000000g",
            "99999999999999999999x", String(repeating: "%C3%A9", count: 129),
        ].filter { text in
            let plain = text.replacing("%C3%A9", with: "é")
            let isNumber = schema["type"]?.string == "integer" && Int64(plain) != nil
            let json = isNumber ? plain : "\"\(plain)\""
            guard let value = try? JSONDocument(Array(json.utf8)).root else { return false }
            return check.problem(value, schema) != nil && (place != "header" || plain == text)
        }
    }
}

extension DescribedAPI.Operation {
    /// What the operations of the example of a patch are about.
    fileprivate var subjects: [String] {
        let content = json["requestBody"]?["content"]?.members.first { _ in true }
        return content?.value["example"]?.elements.compactMap { $0["property"]?.string } ?? []
    }
}
