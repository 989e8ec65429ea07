/// A schema of a JSON value: the part of JSON Schema 2020-12 that the API description uses.
///
/// It is only written, by ``JSONWriter/schema(_:referring:)``, never read.
public indirect enum JSONSchema: Sendable {
    /// Any value.
    case anything
    /// Only `null`.
    case null
    /// `true` or `false`.
    case boolean
    /// An integer; the limits of `Int64` are not written as bounds.
    case integer(ClosedRange<Int64>)
    /// A number, with or without fraction.
    case number(ClosedRange<Double>)
    /// A string.
    case text(JSONTextSchema)
    /// One of these strings.
    case choice([String])
    /// An array of elements of one schema; a count of `Int.max` is not written as a bound.
    case array(of: JSONSchema, ClosedRange<Int>)
    /// An object with these members; other members match `others`.
    case object([Member], others: JSONSchema)
    /// A value that matches at least one of these.
    case anyOf([JSONSchema])
    /// A schema that is described once under a name and referred to by it.
    case named(String, JSONSchema)
    /// A reference to a named schema, for recursive schemas.
    case reference(String)
    /// A schema with a description for people.
    case described(JSONSchema, String)

    /// One member of an object.
    public struct Member: Sendable {
        /// The name.
        public let name: String
        /// The schema of its value.
        public let schema: JSONSchema
        /// Whether it is always present.
        public let isRequired: Bool
        /// Whether it is written in descriptions.
        public let isDescribed: Bool

        /// A member that is always present.
        public static func required(_ name: String, _ schema: JSONSchema) -> Member {
            Member(name: name, schema: schema, isRequired: true, isDescribed: true)
        }

        /// A member that may be missing.
        public static func optional(_ name: String, _ schema: JSONSchema) -> Member {
            Member(name: name, schema: schema, isRequired: false, isDescribed: true)
        }

        /// A member that readers accept, and descriptions leave out: an older name of another member, or one that is
        /// ignored.
        public static func accepted(_ name: String, _ schema: JSONSchema) -> Member {
            Member(name: name, schema: schema, isRequired: false, isDescribed: false)
        }
    }
}

extension JSONSchema {
    /// Any string.
    public static var string: JSONSchema { .text(JSONTextSchema()) }

    /// Any integer of 64 bits.
    public static var integer: JSONSchema { .integer(.min ... .max) }

    /// A string with that many Unicode scalars.
    public static func string(length: ClosedRange<Int>) -> JSONSchema {
        .text(JSONTextSchema(length: length))
    }

    /// An array of any length.
    public static func array(of element: JSONSchema) -> JSONSchema {
        .array(of: element, 0 ... .max)
    }

    /// An object with these members; other members may have any value.
    public static func object(_ members: [Member]) -> JSONSchema {
        .object(members, others: .anything)
    }

    /// This, or `null`.
    public var orNull: JSONSchema { .anyOf([self, .null]) }

    /// This schema with a description for people.
    public func withDescription(_ text: String) -> JSONSchema { .described(self, text) }

    /// Collects every named schema in this one, itself included.
    public func collectNamed(into found: inout [String: JSONSchema]) {
        switch self {
        case .named(let name, let schema):
            guard found[name] == nil else { return }
            found[name] = schema
            schema.collectNamed(into: &found)
        case .array(let element, _): element.collectNamed(into: &found)
        case .object(let members, let others):
            for member in members { member.schema.collectNamed(into: &found) }
            others.collectNamed(into: &found)
        case .anyOf(let schemas): for schema in schemas { schema.collectNamed(into: &found) }
        case .described(let schema, _): schema.collectNamed(into: &found)
        case .anything, .null, .boolean, .integer, .number, .text, .choice, .reference: return
        }
    }
}

/// A schema of a string.
public struct JSONTextSchema: Sendable {
    /// The number of Unicode scalars; `Int.max` is not written as a bound.
    public let length: ClosedRange<Int>
    /// A regular expression (ECMA-262) that must match part of the string.
    public let pattern: String?
    /// A known format, such as `date-time` or `uri`.
    public let format: String?

    /// Makes a schema; without arguments it matches any string.
    public init(
        length: ClosedRange<Int> = 0 ... .max, pattern: String? = nil, format: String? = nil
    ) {
        self.length = length
        self.pattern = pattern
        self.format = format
    }
}

extension JSONWriter {
    /// Writes a schema as JSON Schema 2020-12.
    ///
    /// - Parameter prefix: The start of references to named schemas, such as
    ///   `#/components/schemas/`.
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
        let members = members.filter(\.isDescribed)
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
