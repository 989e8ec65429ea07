import JSON

/// The response that the model expects.
struct ModelExpectation {
    var status: Int
    /// The `id` of an error.
    var error: String?
    /// The `data.property` of an error.
    var property: String?
    /// The content, or `data` of an error; `nil` if it is empty or not compared.
    var body: ModelValue?
    /// `Layer-Count`.
    var count: Int?
    /// The version in `ETag`.
    var version: Int64?

    static func ok(_ body: ModelValue, count: Int? = nil) -> ModelExpectation {
        ModelExpectation(status: 200, body: body, count: count)
    }

    static func empty(_ status: Int) -> ModelExpectation { ModelExpectation(status: status) }

    static func refused(
        _ status: Int, _ error: String, _ property: String? = nil, data: ModelValue? = nil
    ) -> ModelExpectation {
        ModelExpectation(status: status, error: error, property: property, body: data)
    }

    static let notFound = refused(404, "not_found")
    static let denied = refused(403, "access_denied")
    static let gone = refused(410, "object_deleted")

    /// The numbers of platform-api §2.2.
    private static let codes: [String: Int64] = [
        "invalid_request_id": 3, "invalid_operation": 9, "invalid_request": 10,
        "access_denied": 101, "not_found": 102, "object_deleted": 103, "missing_property": 104,
        "invalid_property": 105, "conflict": 108, "method_not_allowed": 109,
        "participant_blocked": 110, "id_in_use": 111, "version_mismatch": 115,
    ]

    /// The first difference of a response; `nil` when there is none.
    func difference(from answer: PlainAnswer, _ value: ModelValue?) -> String? {
        if answer.status != status {
            return "status: expected \(status)\(error.map { " \($0)" } ?? ""), answered"
                + " \(answer.status) \(value?["id"]?.text ?? "")"
        }
        if let count, answer["Layer-Count"] != "\(count)" {
            return "Layer-Count: expected \(count), answered \(answer["Layer-Count"] ?? "none")"
        }
        if let version, answer["ETag"] != "\"v\(version)\"" {
            return "ETag: expected \"v\(version)\", answered \(answer["ETag"] ?? "none")"
        }
        if let error {
            let head: [String: ModelValue] = [
                "id": .text(error), "code": .number(Self.codes[error] ?? 0), "message": .any,
                "url": .any,
            ]
            guard let value else { return "the error has no JSON: \(answer.body)" }
            if let difference = ModelValue.object(head).difference(from: value) {
                return difference
            }
            if let property, value["data"]?["property"] != .text(property) {
                return "data.property: expected \(property), answered \(value)"
            }
            return body.flatMap { $0.difference(from: value["data"] ?? .null, at: "data") }
        }
        guard let body else {
            return status == 204 && !answer.body.isEmpty ? "a body: \(answer.body)" : nil
        }
        guard let value else { return "the answer is no JSON: \(answer.body)" }
        return body.difference(from: value)
    }
}

/// A JSON value expected by the model or returned by the server.
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
    /// Expected: these members, and possibly others. Returned: all members.
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

    /// The first difference between this expectation and a value; `nil` when there is none.
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
            for (index, pair) in zip(expected, found).enumerated() {
                if let found = pair.0.difference(from: pair.1, at: "\(path)[\(index)]") {
                    return found
                }
            }
            return nil
        case (.unordered(let expected), .list(let found)):
            var left = found
            for value in expected {
                guard
                    let index = left.firstIndex(where: { value.difference(from: $0) == nil })
                else { return "\(path): \(value) is missing in \(answer)" }
                left.remove(at: index)
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
