import HTTP
import JSON
import PlatformAPI
import SystemSupport

/// The OpenAPI description of one version, as fetched by a client.
struct DescribedAPI: Sendable {
    /// One operation of the description.
    struct Operation: Sendable {
        let name: String
        let method: String
        let path: String
        let json: JSONValue

        /// The description of a JSON body; `nil` for other types and without a body.
        var jsonBody: JSONValue? {
            json["requestBody"]?["content"]?.members.first { type, _ in type.hasSuffix("json") }?
                .value
        }
    }

    let root: JSONValue
    let operations: [Operation]
    private let router: Router<Operation>

    /// Fetched and parsed once for each version, because that takes a second and hundreds of cases use it.
    static func of(_ version: String) async throws -> DescribedAPI {
        try await readings.withLock { readings in
            let reading = readings[version] ?? Task { try await fetched(version) }
            readings[version] = reading
            return reading
        }.value
    }

    /// The description of the Client API in a version.
    static func ofClients(_ version: String) async throws -> DescribedAPI {
        try await of("\(version)&api=client")
    }

    private static let readings: Locked<[String: Task<DescribedAPI, any Error>]> = Locked([:])

    private static func fetched(_ version: String) async throws -> DescribedAPI {
        let client = RouterClient(service: try await TestServer.shared.service)
        let answer = try await client.send(
            PlainRequest(
                method: "GET", target: "/openapi.json?version=\(version)", fields: [], body: ""))
        return DescribedAPI(try JSONDocument(Array(answer.body.utf8)).root)
    }

    private init(_ root: JSONValue) {
        self.root = root
        var operations: [Operation] = []
        var router = Router<Operation>(allowsTrailingSlash: true)
        for (path, methods) in root["paths"]?.members ?? root.members {
            for (method, json) in methods.members {
                guard let name = json["operationId"]?.string,
                    let known = HTTP.Method(rawValue: method.uppercased())
                else { continue }
                let operation = Operation(
                    name: name, method: known.rawValue, path: path, json: json)
                operations.append(operation)
                router.add(known, PathTemplate(path), operation)
            }
        }
        self.operations = operations
        self.router = router
    }

    /// The operation of a request; `nil` if it is not described.
    func operation(_ request: PlainRequest) -> Operation? {
        let override = request.fields.first { $0.name.lowercased() == "x-http-method-override" }
        let name =
            request.method == "POST"
            ? override?.value.uppercased() ?? request.method : request.method
        guard let method = HTTP.Method(rawValue: name),
            case .found(let operation, _, _) = router.match(method, RequestTarget(request.target)),
            operation.method == name
        else { return nil }
        return operation
    }

    /// The first difference between a response and its description; `nil` without one.
    func problem(_ answer: PlainAnswer, of operation: Operation) -> String? {
        let check = SchemaCheck(root: root)
        guard let described = operation.json["responses"]?[String(answer.status)] else {
            return "\(operation.name): the status \(answer.status) is not described"
        }
        let shape = check.resolved(described)
        for (name, field) in (shape["headers"] ?? root).members
        where field["required"]?.bool == true && answer[name] == nil {
            return "\(operation.name): the field \(name) is missing"
        }
        // Compressed content is not checked.
        guard answer["Content-Encoding"] == nil else { return nil }
        if let type = answer["Content-Type"], shape["content"]?[type] != nil { return nil }
        guard let schema = shape["content"]?["application/json"]?["schema"] else {
            return answer.body.isEmpty ? nil : "\(operation.name): the body is not described"
        }
        guard let value = try? JSONDocument(Array(answer.body.utf8)).root else {
            return "\(operation.name): the body is no JSON"
        }
        return check.problem(value, schema).map { "\(operation.name) \(answer.status): \($0)" }
    }
}

/// Validates values against the schemas of a document. An unsupported keyword is an error, and, more
/// strictly than in JSON Schema, so is a member that the schema does not list.
struct SchemaCheck {
    /// The document in which references are resolved.
    let root: JSONValue
    /// Whether members that the schema does not list are allowed, as in requests.
    var allowsOthers = false

    /// The first error of a value; `nil` when it is valid.
    func problem(_ value: JSONValue, _ schema: JSONValue, at location: String = "$") -> String? {
        for (keyword, rule) in schema.members {
            if let problem = problem(value, keyword, rule, schema) {
                return problem.placed(location)
            }
        }
        if !allowsOthers, schema["properties"] != nil, schema["additionalProperties"] == nil {
            for (name, _) in value.members where schema["properties"]?[name] == nil {
                return "the member \(name) is not described".placed(location)
            }
        }
        return nestedProblem(value, schema, at: location)
    }

    /// The compiled patterns: to compile one takes much longer than to match it.
    private static let patterns = Locked<[String: Regex<AnyRegexOutput>]>([:])

    /// Whether a text contains a match of a pattern; no text matches an invalid pattern.
    private static func matches(_ text: String, _ pattern: String) -> Bool {
        patterns.withLock { patterns in
            guard let regex = patterns[pattern] ?? (try? Regex(pattern)) else { return false }
            patterns[pattern] = regex
            return text.firstMatch(of: regex) != nil
        }
    }

    /// Resolves a reference.
    func resolved(_ value: JSONValue) -> JSONValue {
        guard let text = value["$ref"]?.string else { return value }
        return text.split(separator: "/").dropFirst().reduce(root) { found, name in
            found[String(name)] ?? found
        }
    }

    private func problem(
        _ value: JSONValue, _ keyword: String, _ rule: JSONValue, _ schema: JSONValue
    ) -> String? {
        let length = value.string?.unicodeScalars.count
        switch keyword {
        case "type": return hasType(value, rule.string) ? nil : "is no \(rule)"
        case "enum":
            return rule.elements.contains { $0.string == value.string } ? nil : "is not in \(rule)"
        case "pattern":
            guard let text = value.string, let expression = rule.string else { return nil }
            return Self.matches(text, expression) ? nil : "is not \(rule)"
        case "format":
            guard rule.string == "uri", let text = value.string else { return nil }
            return text.hasPrefix("https://") ? nil : "is no URL"
        case "minLength": return length.map { $0 < bound(rule) } == true ? "too short" : nil
        case "maxLength": return length.map { $0 > bound(rule) } == true ? "too long" : nil
        case "minItems": return value.count < bound(rule) ? "too few" : nil
        case "maxItems": return value.count > bound(rule) ? "too many" : nil
        case "minimum": return (value.double ?? 0) < rule.double ?? 0 ? "too small" : nil
        case "maximum": return (value.double ?? 0) > rule.double ?? 0 ? "too large" : nil
        case "required":
            return rule.elements.compactMap(\.string).first { value[$0] == nil }
                .map { "the member \($0) is missing" }
        case "anyOf":
            return rule.elements.contains { problem(value, $0) == nil }
                ? nil : "\(value) is none of \(rule)"
        case "$ref": return problem(value, resolved(schema))
        case "properties", "items", "additionalProperties", "description": return nil
        default: return "unknown keyword \(keyword)"
        }
    }

    private func nestedProblem(
        _ value: JSONValue, _ schema: JSONValue, at location: String
    ) -> String? {
        for (name, member) in value.members {
            guard let schema = schema["properties"]?[name] ?? schema["additionalProperties"]
            else { continue }
            if let problem = problem(member, schema, at: "\(location).\(name)") { return problem }
        }
        guard let items = schema["items"] else { return nil }
        for element in value.elements {
            if let problem = problem(element, items, at: "\(location)[]") { return problem }
        }
        return nil
    }

    private func bound(_ rule: JSONValue) -> Int { Int(rule.integer ?? 0) }

    private func hasType(_ value: JSONValue, _ type: String?) -> Bool {
        switch value.kind {
        case .object: type == "object"
        case .array: type == "array"
        case .string: type == "string"
        case .bool: type == "boolean"
        case .null: type == "null"
        case .number: type == "number" || type == "integer" && value.integer != nil
        }
    }
}

extension String {
    fileprivate func placed(_ location: String) -> String {
        hasPrefix("$") ? self : "\(location): \(self)"
    }
}
