import HTTP
import JSON
public import Messaging
import MessagingWire

/// The reference of both APIs as Markdown, made from the same declarations as the OpenAPI document: a page for each
/// noun, and the catalogue of errors.
public struct APIReference: Sendable {
    private let limits: MessagingLimits

    /// - Parameter limits: The limits that the texts name.
    public init(limits: MessagingLimits) { self.limits = limits }

    /// The nouns in the order of the endpoints.
    public static let nouns: [String] = {
        var nouns: [String] = []
        for endpoint in Endpoint.routed where !nouns.contains(noun(of: endpoint)) {
            nouns.append(noun(of: endpoint))
        }
        return nouns
    }()

    /// The title of the page of a noun.
    public static func title(of noun: String) -> String {
        let words = noun.split(separator: "_").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// What the path of an endpoint is about: `messages` for `/conversations/{conversation}/messages`.
    private static func noun(of endpoint: Endpoint) -> String {
        var names = endpoint.path.description.split(separator: "/").map(String.init)
        if names.first == "apps" { names.removeFirst(2) }
        if names.first == "users", names.count > 2 { names.removeFirst(2) }
        if names.contains("messages") { return "messages" }
        if names.contains("content") { return "content" }
        guard let first = names.first else { return "application" }
        return collected[first] ?? first
    }

    private static let collected = [
        "badge": "users", "blocks": "users", "dev": "sessions", "export": "transfers",
        "export_schedule": "exports", "export_security": "exports", "identity": "identities",
        "import": "transfers", "nonces": "sessions", "presence": "conversations",
    ]

    private typealias DescribedEndpoint = (endpoint: Endpoint, operation: Operation)

    private var all: [DescribedEndpoint] {
        Endpoint.routed.map { endpoint in
            (endpoint, endpoint.describe(endpoint.versions.max() ?? .v3_0, limits))
        }
    }

    /// The page that lists the nouns: each with its operations.
    public func index() -> String {
        let described = all
        var text =
            "# API: all nouns\n\nEvery operation of the Platform API and the Client API, by what it is about.\n\n"
        for noun in Self.nouns {
            let names = described.filter { described in Self.noun(of: described.endpoint) == noun }
                .map { described in "`\(described.operation.name)`" }
            text += "- <doc:api/\(noun)>: \(names.joined(separator: ", "))\n"
        }
        return text
    }

    /// The page of a noun.
    public func page(of noun: String) -> String {
        let described = all.filter { described in Self.noun(of: described.endpoint) == noun }
        var objects: [String: JSONSchema] = [:]
        var text = """
            # API: \(Self.title(of: noun))

            \(described.count == 1 ? "One operation" : "\(described.count) operations") in the newest version. \
            The examples take `URL`, `APP` and `TOKEN` from the start of the server, and `SESSION` from a login; \
            `/openapi.json` describes the same for programs.


            """
        for (title, isOfClients) in [("Platform API", false), ("Client API", true)] {
            let part = described.filter { ($0.endpoint.family == .client) == isOfClients }
            if part.isEmpty { continue }
            text += "## \(title)\n\n"
            for described in part {
                text += section(described)
                described.operation.body?.collectNamed(into: &objects)
                for answer in described.operation.answers {
                    answer.schema?.collectNamed(into: &objects)
                }
            }
        }
        guard !objects.isEmpty else { return text }
        text += "## Objects\n\n"
        for (name, schema) in objects.sorted(by: { $0.key < $1.key }) {
            let members = Self.members(of: schema)
            text += "### \(name)\n\n"
            text += members.isEmpty ? "\(Self.type(schema)).\n\n" : members
        }
        return text
    }

    private func section(_ described: DescribedEndpoint) -> String {
        let (endpoint, operation) = described
        var text = """
            ### \(operation.name)

            `\(endpoint.method.rawValue) \(endpoint.path)`

            \(endpoint.summary)

            ```sh
            \(Self.curl(endpoint, operation))
            ```


            """
        let fields =
            operation.fields + (endpoint.isKeyed ? [.replayKey] : [])
            + (endpoint.isRepeatable ? [.idempotencyKey] : [])
        let path = PathParameter.all(in: endpoint.path.parameterNames).map { parameter in
            Parameter(parameter.name, parameter.schema, parameter.text, isRequired: true)
        }
        let parameters =
            path.map { ("path", $0) } + operation.query.map { ("query", $0) }
            + fields.map { ("header", $0) }
        if !parameters.isEmpty {
            text += "| Parameter | In | Type | Meaning |\n|---|---|---|---|\n"
            for (place, parameter) in parameters {
                let name = "`\(parameter.name)\(parameter.isPrefix ? "…" : "")`"
                let type = Self.cell(Self.type(parameter.schema))
                let isRequired = parameter.isRequired && place != "path" ? ", required" : ""
                text +=
                    "| \(name) | \(place)\(isRequired) | \(type) | \(Self.cell(parameter.text)) |\n"
            }
            text += "\n"
        }
        if let body = operation.body {
            text += "Body: \(Self.type(body)).\n\n\(Self.members(of: body))"
        }
        text += "| Answer | Body | Meaning |\n|---|---|---|\n"
        for answer in operation.answers {
            let type = answer.schema.map { Self.cell(Self.type($0)) } ?? "none"
            text += "| \(answer.status) | \(type) | \(Self.cell(answer.text)) |\n"
        }
        let errors = PossibleErrors(of: endpoint, operation).byStatus.values.joined()
        let names = Set(errors).sorted { $0.row.code < $1.row.code }.map { kind in
            "[`\(kind.row.id)`](\(ErrorJSON.page)#\(kind.row.id))"
        }
        return text + "\nErrors: \(names.joined(separator: ", ")).\n\n"
    }

    // MARK: - Errors

    /// A section for each error of the table, at the anchor that the `url` of an error names (ruling 32).
    public func errors() -> String {
        var operations: [APIErrorKind: [String]] = [:]
        let all = all
        var known: Set<String> = []
        for (endpoint, operation) in all {
            var page = "/docs/api/\(Self.noun(of: endpoint))#\(operation.name.lowercased())"
            // An operation of the Client API may have the name of one of the Platform API, which precedes it.
            if !known.insert(page).inserted { page += "-1" }
            for kind in Set(PossibleErrors(of: endpoint, operation).byStatus.values.joined()) {
                operations[kind, default: []].append("[\(operation.name)](\(page))")
            }
        }
        var text = "## Every error\n\n"
        for kind in APIErrorKind.allCases.sorted(by: { $0.row.code < $1.row.code }) {
            let (id, code, status) = kind.row
            let meaning = kind.meaning.prefix(1).uppercased() + kind.meaning.dropFirst()
            let found = operations[kind] ?? []
            let answering =
                found.count > Self.mostLinks || found.isEmpty
                ? "\(found.count == all.count ? "Every operation" : found.isEmpty ? "No operation of its own" : "\(found.count) operations") may answer it."
                : "Answered by \(found.joined(separator: ", "))."
            let example = String(
                decoding: ErrorJSON.bytes(APIError(kind, "\(meaning)."), publicBase: ""),
                as: UTF8.self)
            text += """
                ### `\(id)`

                Code \(code), status \(status). \(meaning).

                \(kind.remedy) \(answering)

                ```json
                \(example)
                ```


                """
        }
        return text
    }

    /// The most links of one error.
    private static let mostLinks = 24

    // MARK: - Parts

    /// A command that sends the example of an operation.
    private static func curl(_ endpoint: Endpoint, _ operation: Operation) -> String {
        var path = endpoint.path.description.replacing("{app}", with: "$APP")
        for parameter in PathParameter.all(in: endpoint.path.parameterNames) {
            let sample = parameter.name == "user" ? operation.example.user : nil
            path = path.replacing("{\(parameter.name)}", with: sample ?? parameter.sample)
        }
        let query = operation.example.query.map { name, value in "\(name)=\(value)" }
        if !query.isEmpty { path += "?" + query.joined(separator: "&") }
        var command = "curl -sS"
        let isImplied = endpoint.method == .get || endpoint.method == .post && operation.body != nil
        if !isImplied { command += " -X \(endpoint.method.rawValue)" }
        command += " \"$URL\(path)\""
        var fields = operation.example.fields.map { name, value in "\(name): \(value)" }
        if endpoint.needsCredential {
            fields.insert(
                endpoint.family == .client
                    ? "Authorization: Layer session-token=$SESSION"
                    : "Authorization: Bearer $TOKEN",
                at: 0)
        }
        if endpoint.family == .webhooks, let version = endpoint.versions.max() {
            fields.append("Accept: \(endpoint.family.mediaType); version=\(version.rawValue)")
        }
        if endpoint.method == .patch { fields.append("Content-Type: \(PatchType.name)") }
        for field in fields { command += " \\\n  -H \"\(field)\"" }
        if let body = operation.example.body {
            command += " \\\n  -d '\(body.replacing("'", with: #"'\''"#))'"
        }
        return command
    }

    /// The type of a value in words; named types link to their members on the same page.
    private static func type(_ schema: JSONSchema) -> String {
        switch schema {
        case .anything: return "any value"
        case .null: return "null"
        case .boolean: return "boolean"
        case .integer(let range): return "integer" + bounds(range.lowerBound, range.upperBound)
        case .number(let range): return "number, \(range.lowerBound) to \(range.upperBound)"
        case .text(let text): return Self.text(text)
        case .choice(let texts): return texts.map { "`\($0)`" }.joined(separator: " or ")
        case .array(let element, let count):
            let most = count.upperBound < .max ? " of at most \(count.upperBound)" : ""
            return "array\(most): \(type(element))"
        case .object: return "object"
        case .anyOf(let schemas):
            var types: [String] = []
            for schema in schemas.map(type) where !types.contains(schema) { types.append(schema) }
            return types.joined(separator: ", or ")
        case .named(let name, _), .reference(let name): return "[\(name)](#\(name.lowercased()))"
        case .described(let schema, let text): return "\(type(schema)) (\(text))"
        }
    }

    private static func text(_ schema: JSONTextSchema) -> String {
        var text = schema.format.map { "string (`\($0)`)" } ?? "string"
        if schema.length.upperBound < .max {
            text += ", \(schema.length.lowerBound) to \(schema.length.upperBound) characters"
        } else if schema.length.lowerBound > 0 {
            text += ", not empty"
        }
        guard let pattern = schema.pattern else { return text }
        var shown = pattern
        if case .text(let uuid) = JSONSchema.uuid, let hexadecimal = uuid.pattern {
            let inner = hexadecimal.drop { $0 == "^" }.prefix { $0 != "$" }
            shown = pattern.replacing(inner, with: "{uuid}")
        }
        // Most patterns are of a whole text; the anchors would only make them harder to read.
        if shown.hasPrefix("^"), shown.hasSuffix("$") {
            shown = String(shown.dropFirst().dropLast())
        }
        return shown == "{uuid}" ? "UUID" : text + ", `\(shown)`"
    }

    private static func bounds(_ low: Int64, _ high: Int64) -> String {
        switch (low > .min, high < .max) {
        case (true, true): ", \(low) to \(high)"
        case (true, false): ", at least \(low)"
        case (false, true): ", at most \(high)"
        case (false, false): ""
        }
    }

    /// A table of the members of an object; empty for other schemas.
    private static func members(of schema: JSONSchema) -> String {
        switch schema {
        case .described(let inner, _): return members(of: inner)
        case .named: return ""
        case .object(let members, _):
            let shown = members.filter(\.isDescribed)
            if shown.isEmpty { return "" }
            var text = "| Member | Type | |\n|---|---|---|\n"
            for member in shown {
                let presence = member.isRequired ? "" : "optional"
                text += "| `\(member.name)` | \(cell(type(member.schema))) | \(presence) |\n"
            }
            return text + "\n"
        default: return ""
        }
    }

    /// A text in a cell of a table.
    private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
