/// What a JSON value may look like: as much of JSON Schema 2020-12 as the description of an interface
/// needs.
///
/// It is written, never read, by this program: ``JSONWriter/schema(_:referring:)``.
public indirect enum JSONSchema: Sendable {
    /// Every value.
    case anything
    /// `null` alone.
    case null
    /// `true` or `false`.
    case boolean
    /// A whole number; the ends of the range of 64 bits are no bounds.
    case integer(ClosedRange<Int64>)
    /// A number, with or without fraction.
    case number(ClosedRange<Double>)
    /// A string.
    case text(JSONTextSchema)
    /// One of these strings.
    case choice([String])
    /// An array whose elements all look alike; `Int.max` is no bound.
    case array(of: JSONSchema, ClosedRange<Int>)
    /// An object with these members, and perhaps others that look like `others`.
    case object([Member], others: JSONSchema)
    /// What at least one of these allows.
    case anyOf([JSONSchema])
    /// The same, described once under a name that a whole document shares.
    case named(String, JSONSchema)
    /// What stands under a name elsewhere: for values that hold their like.
    case reference(String)
    /// The same, with a sentence for people.
    case described(JSONSchema, String)

    /// One member of an object.
    public struct Member: Sendable {
        /// Its name, as it stands between the quotes.
        public let name: String
        /// What its value looks like.
        public let schema: JSONSchema
        /// Whether it must be there.
        public let isRequired: Bool

        /// A member that is always there.
        public static func required(_ name: String, _ schema: JSONSchema) -> Member {
            Member(name: name, schema: schema, isRequired: true)
        }

        /// A member that may be missing.
        public static func optional(_ name: String, _ schema: JSONSchema) -> Member {
            Member(name: name, schema: schema, isRequired: false)
        }
    }
}

extension JSONSchema {
    /// Any string.
    public static var string: JSONSchema { .text(JSONTextSchema()) }

    /// Any whole number of 64 bits.
    public static var integer: JSONSchema { .integer(.min ... .max) }

    /// A string with so many Unicode scalars.
    public static func string(length: ClosedRange<Int>) -> JSONSchema {
        .text(JSONTextSchema(length: length))
    }

    /// An array of any length.
    public static func array(of element: JSONSchema) -> JSONSchema {
        .array(of: element, 0 ... .max)
    }

    /// An object with these members; what others it has says nothing.
    public static func object(_ members: [Member]) -> JSONSchema {
        .object(members, others: .anything)
    }

    /// This, or `null`.
    public var orNull: JSONSchema { .anyOf([self, .null]) }

    /// The same, with a sentence for people.
    public func saying(_ text: String) -> JSONSchema { .described(self, text) }

    /// Every schema that has a name, this one and all it holds.
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
