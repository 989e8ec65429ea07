extension JSONWriter {
    /// Writes a schema as JSON Schema 2020-12.
    ///
    /// - Parameter prefix: What leads to a name, such as `#/components/schemas/`.
    public mutating func schema(_ schema: JSONSchema, referring prefix: String) {
        object { writer in writer.members(of: schema, prefix) }
    }

    private mutating func members(of schema: JSONSchema, _ prefix: String) {
        switch schema {
        case .anything: return
        case .null: member("type", "null")
        case .boolean: member("type", "boolean")
        case .integer(let range):
            member("type", "integer")
            if range.lowerBound > .min { member("minimum", range.lowerBound) }
            if range.upperBound < .max { member("maximum", range.upperBound) }
        case .number(let range):
            member("type", "number")
            key("minimum")
            double(range.lowerBound)
            key("maximum")
            double(range.upperBound)
        case .text(let text): members(of: text)
        case .choice(let choices):
            member("type", "string")
            key("enum")
            array { writer in for choice in choices { writer.string(choice) } }
        case .array(let element, let count):
            member("type", "array")
            key("items")
            self.schema(element, referring: prefix)
            bounds("minItems", "maxItems", count)
        case .object(let members, let others): object(members, others, prefix)
        case .anyOf(let schemas):
            key("anyOf")
            array { writer in
                for schema in schemas { writer.schema(schema, referring: prefix) }
            }
        case .named(let name, _), .reference(let name): member("$ref", prefix + name)
        case .described(let schema, let text):
            members(of: schema, prefix)
            member("description", text)
        }
    }

    private mutating func members(of text: JSONTextSchema) {
        member("type", "string")
        bounds("minLength", "maxLength", text.length)
        if let pattern = text.pattern { member("pattern", pattern) }
        if let format = text.format { member("format", format) }
    }

    private mutating func object(
        _ members: [JSONSchema.Member], _ others: JSONSchema, _ prefix: String
    ) {
        member("type", "object")
        if !members.isEmpty {
            key("properties")
            object { writer in
                for member in members {
                    writer.key(member.name)
                    writer.schema(member.schema, referring: prefix)
                }
            }
        }
        let required = members.filter(\.isRequired)
        if !required.isEmpty {
            key("required")
            array { writer in for member in required { writer.string(member.name) } }
        }
        if case .anything = others { return }
        key("additionalProperties")
        schema(others, referring: prefix)
    }

    private mutating func bounds(
        _ least: StaticString, _ most: StaticString, _ range: ClosedRange<Int>
    ) {
        if range.lowerBound > 0 { member(least, range.lowerBound) }
        if range.upperBound < .max { member(most, range.upperBound) }
    }
}
