import JSON

/// Invalid bodies of an operation, derived from its example and its schema.
struct InvalidBodies {
    /// A body that must be rejected, and why.
    struct InvalidBody: CustomStringConvertible {
        let body: [UInt8]
        /// 10, 104 or 105 of the error table.
        let code: Int64
        /// The members from the root to the invalid one, without array indices.
        let path: [String]
        let description: String
    }

    private let check: SchemaCheck
    private let example: JSONValue
    private let bytes: [UInt8]
    private(set) var all: [InvalidBody] = []

    init(in body: [UInt8], _ schema: JSONValue, of root: JSONValue) throws {
        check = SchemaCheck(root: root, allowsOthers: true)
        bytes = body
        example = try JSONDocument(body).root
        try visit(example, schema, [])
    }

    // MARK: - Members

    private mutating func visit(
        _ value: JSONValue, _ schema: JSONValue, _ path: [String]
    ) throws {
        let schema = chosen(schema, for: value)
        for element in value.elements {
            guard let items = schema["items"] else { continue }
            try add(in: element, items, path)
            try visit(element, items, path)
        }
        let required = schema["required"]?.elements.compactMap(\.string) ?? []
        for (name, member) in value.members {
            guard let known = schema["properties"]?[name] ?? schema["additionalProperties"]
            else { continue }
            let path = path + [name]
            if required.contains(name) { addMissing(name, member, path) }
            try add(in: member, known, path)
            addUnreadable(name, member, path)
            try visit(member, known, path)
        }
        for (name, known) in schema["properties"]?.members ?? value.members
        where value[name] == nil && value.kind == .object {
            for bad in try Self.candidates(not: known, check) {
                insert(
                    "\"\(name)\":\(bad)", into: value, path + [name], "\(bad) for the new \(name)")
            }
        }
    }

    /// The alternative that the example matches.
    private func chosen(_ schema: JSONValue, for value: JSONValue) -> JSONValue {
        let schema = check.resolved(schema)
        let fitting = schema["anyOf"]?.elements.first { check.problem(value, $0) == nil }
        return fitting.map { chosen($0, for: value) } ?? schema
    }

    // MARK: - Errors

    private mutating func addMissing(_ name: String, _ member: JSONValue, _ path: [String]) {
        // An unknown member is ignored, so another name is no error.
        let key = Array("\"\(name)\"".utf8)
        let start = (0..<member.offset).last { bytes[$0...].starts(with: key) } ?? 0
        var renamed = bytes
        renamed.replaceSubrange(start..<start + key.count, with: "\"~\"".utf8)
        all.append(InvalidBody(body: renamed, code: 104, path: path, description: "no \(name)"))
        replace(member, "null", 104, path)
    }

    private mutating func add(
        in value: JSONValue, _ schema: JSONValue, _ path: [String]
    ) throws {
        for bad in try Self.candidates(not: schema, check) { replace(value, bad, 105, path) }
    }

    /// Values that make the whole body unreadable, anywhere (ruling 6).
    private mutating func addUnreadable(
        _ name: String, _ member: JSONValue, _ path: [String]
    ) {
        for bad in Self.unreadable { replace(member, bad, 10, path) }
        replace(member, "\(member),\"\(name)\":\(member)", 10, path)
    }

    private mutating func replace(
        _ value: JSONValue, _ text: String, _ code: Int64, _ path: [String]
    ) {
        var body = bytes
        body.replaceSubrange(value.offset..<value.offset + value.raw.count, with: text.utf8)
        all.append(
            InvalidBody(
                body: body, code: code, path: path,
                description: "\(text.prefix(60)) at \(path.joined(separator: "."))"))
    }

    private mutating func insert(
        _ text: String, into object: JSONValue, _ path: [String], _ description: String
    ) {
        var body = bytes
        body.insert(
            contentsOf: Array((object.count == 0 ? text : text + ",").utf8), at: object.offset + 1)
        all.append(InvalidBody(body: body, code: 105, path: path, description: description))
    }

    // MARK: - Values

    /// Values that a schema does not allow; `null` means absent (ruling 2).
    private static func candidates(
        not schema: JSONValue, _ check: SchemaCheck
    ) throws -> [String] {
        try values.filter { text in
            check.problem(try JSONDocument(Array(text.utf8)).root, schema) != nil
        }
    }

    private static let values = [
        "5", "-1", "1.5", "1e30", String(repeating: "9", count: 40), "true", #""""#, #""x""#,
        #""\u0000 /""#, "[]", "[5]", "[[]]", "[{}]", "{}", #"{"a":5}"#,
        "\"\(String(repeating: "é", count: 4097))\"",
        String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
        String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40),
    ]

    private static let unreadable = [
        #""\ud800""#, #""\udc00x""#, "nul", "'x'", "01", "NaN", "\"\t\"",
        String(repeating: "9", count: 100), #"{"a":1,"\u0061":2}"#,
        String(repeating: "[", count: 70) + String(repeating: "]", count: 70),
    ]
}
