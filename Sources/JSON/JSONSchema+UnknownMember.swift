extension JSONSchema {
    /// A member of a value that a schema does not describe.
    public struct UnknownMember: Equatable, Sendable {
        /// The names from the root to the member; elements of arrays add none.
        public fileprivate(set) var path: [String]
        /// The names that the schema describes at that level, each once.
        public let known: [String]
    }

    /// Finds the first member that this schema does not describe.
    ///
    /// Types and bounds are not checked: a value of another type than described has no unknown
    /// member. A single element may be given in place of an array, as in a patch with one
    /// operation.
    public func unknownMember(in value: JSONValue) -> UnknownMember? {
        Self.unknownMember(in: value, alternatives)
    }

    /// The schemas that a value may match, without names and descriptions.
    private var alternatives: [JSONSchema] {
        switch self {
        case .anyOf(let schemas): schemas.flatMap(\.alternatives)
        case .named(_, let schema), .described(let schema, _): schema.alternatives
        default: [self]
        }
    }

    private static func unknownMember(
        in value: JSONValue, _ alternatives: [JSONSchema]
    ) -> UnknownMember? {
        var objects: [(members: [Member], others: JSONSchema)] = []
        var elements: [JSONSchema] = []
        for schema in alternatives {
            switch schema {
            case .object(let members, let others): objects.append((members, others))
            case .array(let element, _): elements += element.alternatives
            default: break
            }
        }
        switch value.kind {
        case .array:
            for element in value.elements {
                if let found = unknownMember(in: element, elements) { return found }
            }
            return nil
        case .object where objects.isEmpty:
            return elements.isEmpty ? nil : unknownMember(in: value, elements)
        case .object:
            for (name, value) in value.members {
                guard var found = unknownMember(name, value, of: objects) else { continue }
                found.path.insert(name, at: 0)
                return found
            }
            return nil
        default: return nil
        }
    }

    /// - Returns: `nil` when an alternative describes the member and everything in it.
    private static func unknownMember(
        _ name: String, _ value: JSONValue, of objects: [(members: [Member], others: JSONSchema)]
    ) -> UnknownMember? {
        var schemas: [JSONSchema] = []
        for (members, others) in objects {
            // Compared as bytes, because `==` of strings treats canonical equivalents as equal.
            let member = members.first { $0.name.utf8.elementsEqual(name.utf8) }
            if let member {
                schemas += member.schema.alternatives
            } else if case .anything = others {
                if members.isEmpty { return nil }
            } else {
                schemas += others.alternatives
            }
        }
        if !schemas.isEmpty { return unknownMember(in: value, schemas) }
        var known: [String] = []
        for member in objects.flatMap(\.members)
        where member.isDescribed && !known.contains(member.name) {
            known.append(member.name)
        }
        return UnknownMember(path: [], known: known)
    }
}
