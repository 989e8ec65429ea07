import JSON

/// A JSON value as the model expects it or as the server answers it.
///
/// Texts are ASCII: every other scalar is escaped, so that canonically equivalent texts stay different.
indirect enum ModelValue: Equatable {
    /// Matches every value.
    case any
    case null
    case bool(Bool)
    case number(Int64)
    case text(String)
    case list([ModelValue])
    /// Expected: these members, and possibly others. Answered: all members.
    case object([String: ModelValue])
    /// Expected: these members and no others.
    case exactly([String: ModelValue])
    /// Expected: these elements in any order.
    case unordered([ModelValue])

    static func string(_ text: String) -> ModelValue { .text(text.inASCII) }
}

extension ModelValue {
    init(_ value: JSONValue) {
        switch value.kind {
        case .null: self = .null
        case .object:
            self = .object(
                value.members.reduce(into: [:]) { members, member in
                    members[member.key.inASCII] = ModelValue(member.value)
                })
        case .array: self = .list(value.elements.map { element in ModelValue(element) })
        default:
            if let text = value.string {
                self = .string(text)
            } else if let bool = value.bool {
                self = .bool(bool)
            } else if let number = value.integer {
                self = .number(number)
            } else {
                self = .text(value.description)
            }
        }
    }

    subscript(name: String) -> ModelValue? {
        switch self {
        case .object(let members), .exactly(let members): members[name]
        default: nil
        }
    }

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The first difference between what is expected here and an answer; `nil` when there is none.
    func difference(from answer: ModelValue, at path: String = "") -> String? {
        switch (self, answer) {
        case (.any, _): return nil
        case (.object(let expected), .object(let found)):
            return Self.difference(of: expected, from: found, at: path)
        case (.exactly(let expected), .object(let found)):
            if let extra = found.keys.sorted().first(where: { key in expected[key] == nil }) {
                return "\(path).\(extra): the model has no such member"
            }
            return Self.difference(of: expected, from: found, at: path)
        case (.list(let expected), .list(let found)):
            guard expected.count == found.count else { break }
            for (place, pair) in zip(expected, found).enumerated() {
                if let found = pair.0.difference(from: pair.1, at: "\(path)[\(place)]") {
                    return found
                }
            }
            return nil
        case (.unordered(let expected), .list(let found)):
            var left = found
            for value in expected {
                guard
                    let place = left.firstIndex(where: { value.difference(from: $0) == nil })
                else { return "\(path): \(value) is missing in \(answer)" }
                left.remove(at: place)
            }
            return left.isEmpty ? nil : "\(path): the model has no \(left)"
        default: if self == answer { return nil }
        }
        return "\(path.isEmpty ? "body" : path): expected \(self), answered \(answer)"
    }

    private static func difference(
        of expected: [String: ModelValue], from found: [String: ModelValue], at path: String
    ) -> String? {
        for (key, value) in expected.sorted(by: { $0.key < $1.key }) {
            guard let other = found[key] else { return "\(path).\(key): is missing" }
            if let difference = value.difference(from: other, at: "\(path).\(key)") {
                return difference
            }
        }
        return nil
    }
}

extension ModelValue: CustomStringConvertible {
    var description: String {
        switch self {
        case .any: "…"
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .number(let number): "\(number)"
        case .text(let text): "\"\(text)\""
        case .list(let elements), .unordered(let elements):
            "[\(elements.map(\.description).joined(separator: ","))]"
        case .object(let members), .exactly(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
                .joined(separator: ",") + "}"
        }
    }
}

extension String {
    /// The text with every scalar outside ASCII escaped.
    var inASCII: String {
        if utf8.allSatisfy({ byte in byte < 128 }) { return self }
        return unicodeScalars.map { scalar in
            scalar.isASCII ? String(scalar) : scalar.escaped(asASCII: true)
        }.joined()
    }
}
