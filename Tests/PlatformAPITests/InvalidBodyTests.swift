import JSON
import MessagingWire
import Testing

/// Every member of every body and every parameter of every endpoint, invalid in every way that its
/// schema defines.
@Suite struct `Invalid bodies derived from schemas` {
    /// Values accepted in addition to the schema, so that old clients keep working.
    private static let tolerated: Set<String> = [
        // Recipients of a notification in the form of another version (platform-api §5.6).
        "notification.recipients"
    ]

    @Test(arguments: DescribedRoute.all)
    func `an invalid body is rejected with its member, and nothing is stored (R28, R114)`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        guard let schema = operation.jsonBody?["schema"] else { return }
        var examples = try await route.examples()
        try await examples.prepare(operation)
        let before = try await examples.sample.eventCount()
        let invalidBodies = try InvalidBodies(
            in: examples.body(of: operation), schema, of: examples.description.root)
        #expect(!invalidBodies.all.isEmpty)
        for invalidBody in invalidBodies.all {
            if invalidBody.code == 105,
                Self.tolerated.contains(invalidBody.path.joined(separator: "."))
            {
                continue
            }
            let answer = try await examples.send(operation, body: invalidBody.body)
            let comment = Comment(rawValue: "\(invalidBody): \(answer.status) \(answer.body)")
            #expect(examples.description.problem(answer, of: operation) == nil, comment)
            let error = try? JSONDocument(Array(answer.body.utf8)).root
            // An application that is no id is one that does not exist (client-api 2.3).
            if invalidBody.code == 105, invalidBody.path == ["app_id"] {
                #expect(answer.status == 403 && error?["id"]?.string == "invalid_app_id", comment)
                continue
            }
            let isRefused = [400, 422].contains(answer.status)
            #expect(isRefused && (answer.status == 400) == (error?["code"]?.integer == 10), comment)
            #expect(fits(error, invalidBody, operation), comment)
            #expect(error?["code"]?.integer != 105 || Self.statesRule(error), comment)
            guard try await examples.sample.eventCount() == before else {
                Issue.record("It stored something: \(comment)")
                return
            }
        }
    }

    @Test(arguments: DescribedRoute.all)
    func `an invalid parameter is rejected by its name, and nothing is stored (1_10, ruling 7)`(
        route: DescribedRoute
    ) async throws {
        let operation = try await route.operation
        var examples = try await route.examples()
        try await examples.prepare(operation)
        let before = try await examples.sample.eventCount()
        for parameter in operation.json["parameters"]?.elements ?? operation.json.elements {
            guard let name = parameter["name"]?.string, let location = parameter["in"]?.string,
                let schema = parameter["schema"]
            else { continue }
            for bad in Self.texts(not: schema, of: examples.description.root, at: location) {
                let answer = try await examples.send(operation, parameters: [name: bad])
                let comment = Comment(rawValue: "\(name)=\(bad.prefix(60)): \(answer)")
                #expect(examples.description.problem(answer, of: operation) == nil, comment)
                let status =
                    switch (location, name) {
                    // Anyone may end a session whose token they have, and devices have any names.
                    case ("path", "token"): 204
                    case ("path", "device"): 202
                    case ("query", "session_token"): 200
                    case ("path", "app"): 403
                    case ("path", _): 404
                    case (_, "If-None-Match"): 400
                    default: 422
                    }
                #expect(answer.status == status, comment)
                guard status == 422 else { continue }
                #expect(answer.body.contains(#""property":"\#(name)""#), comment)
                let error = try JSONDocument(Array(answer.body.utf8)).root
                #expect(Self.statesRule(error), comment)
            }
            if parameter["required"]?.bool == true, location != "path" {
                let answer = try await examples.send(operation, parameters: [name: String?.none])
                #expect(answer.body.contains(#""code":104"#), "\(name): \(answer)")
            }
        }
        #expect(try await examples.sample.eventCount() == before)
    }

    /// Whether an error is about the invalid member.
    ///
    /// An error in a nested member may name a containing one, and a value with missing members the first
    /// of them. Parts are always `parts`; the operand of a patch is `value`, or its property (ruling 5).
    private func fits(
        _ error: JSONValue?, _ invalidBody: InvalidBodies.InvalidBody,
        _ operation: DescribedAPI.Operation
    ) -> Bool {
        guard let code = error?["code"]?.integer else { return false }
        if invalidBody.code == 10 { return code == 10 }
        // An element of the body has no name.
        guard !invalidBody.path.isEmpty else { return [10, 104, 105].contains(code) }
        guard code == invalidBody.code || code == 104,
            let named = error?["data"]?["property"]?.string
        else { return false }
        if operation.method == "PATCH" {
            return [invalidBody.path[0], "value"].contains(named)
                || operation.subjects.contains(named)
        }
        let path = invalidBody.path.joined(separator: ".")
        return [path, "parts.\(path)"].contains { path in
            named == path || path.hasPrefix(named + ".") || named.hasPrefix(path + ".")
        }
    }

    /// Whether the message of a rejection states a rule and is a sentence; `Error texts` checks each text.
    private static func statesRule(_ error: JSONValue?) -> Bool {
        guard let message = error?["message"]?.string else { return false }
        return message.hasSuffix(".") && !message.hasPrefix("Object is missing")
    }

    /// Texts that a parameter's schema does not allow.
    private static func texts(
        not schema: JSONValue, of root: JSONValue, at location: String
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
            return check.problem(value, schema) != nil && (location != "header" || plain == text)
        }
    }
}

extension DescribedAPI.Operation {
    /// The content of the operations in the example of a patch.
    fileprivate var subjects: [String] {
        let content = json["requestBody"]?["content"]?.members.first { _ in true }
        return content?.value["example"]?.elements.compactMap { $0["property"]?.string } ?? []
    }
}
