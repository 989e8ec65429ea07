import JSON

/// Holds values against the schemas of a document. A keyword that this check does not know is a
/// mistake, and, more strictly than in JSON Schema, so is a member that the schema does not know.
struct SchemaCheck {
    /// Where references lead.
    let root: JSONValue
    /// Whether members the schema does not know are let pass, as requests may have them.
    var allowsOthers = false

    /// What is wrong with a value; `nil` when nothing is.
    func problem(_ value: JSONValue, _ schema: JSONValue, at place: String = "$") -> String? {
        for (keyword, rule) in schema.members {
            if let problem = problem(value, keyword, rule, schema) { return problem.placed(place) }
        }
        if !allowsOthers, schema["properties"] != nil, schema["additionalProperties"] == nil {
            for (name, _) in value.members where schema["properties"]?[name] == nil {
                return "the member \(name) is not described".placed(place)
            }
        }
        return nestedProblem(value, schema, at: place)
    }

    /// What a reference names.
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
            return (try? Regex(expression).firstMatch(in: text)) != nil ? nil : "is not \(rule)"
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
        _ value: JSONValue, _ schema: JSONValue, at place: String
    ) -> String? {
        for (name, member) in value.members {
            guard let schema = schema["properties"]?[name] ?? schema["additionalProperties"]
            else { continue }
            if let problem = problem(member, schema, at: "\(place).\(name)") { return problem }
        }
        guard let items = schema["items"] else { return nil }
        for element in value.elements {
            if let problem = problem(element, items, at: "\(place)[]") { return problem }
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
    fileprivate func placed(_ place: String) -> String {
        hasPrefix("$") ? self : "\(place): \(self)"
    }
}
