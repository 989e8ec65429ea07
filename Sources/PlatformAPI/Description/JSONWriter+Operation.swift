import HTTP
import JSON
import MessagingWire

// Writes the OpenAPI 3.1 objects below a path.

extension JSONWriter {
    /// Writes an operation object.
    mutating func operation(
        _ operation: Operation, of endpoint: Endpoint, in version: APIVersion
    ) {
        object { writer in
            writer.member("operationId", operation.name)
            writer.member("summary", endpoint.summary)
            if !endpoint.needsCredential {
                writer.key("security")
                writer.array { _ in }
            }
            if endpoint.family == .webhooks {
                let type = "\(endpoint.family.mediaType); version=\(version.rawValue)"
                writer.member("description", "Requires `Accept: \(type)`.")
                writer.member("x-accept", type)
            }
            writer.key("parameters")
            writer.parameters(of: operation, endpoint)
            writer.prefixes(of: operation)
            if let body = operation.body { writer.body(body, of: operation, endpoint) }
            writer.key("responses")
            writer.object { writer in
                for answer in operation.answers {
                    writer.key(String(answer.status))
                    writer.answer(answer, endpoint.cursorFields)
                }
                for (status, kinds) in PossibleErrors(of: endpoint, operation).byStatus
                    .sorted(by: { $0.key < $1.key })
                {
                    writer.key(String(status))
                    writer.object { writer in
                        writer.member(
                            "$ref", "#/components/responses/\(Self.name(status, kinds))")
                    }
                }
            }
            writer.key("x-example")
            writer.example(of: operation, endpoint)
        }
    }

    private mutating func parameters(of operation: Operation, _ endpoint: Endpoint) {
        let fields =
            operation.fields + (endpoint.isKeyed ? [.replayKey] : [])
            + (endpoint.isRepeatable ? [.idempotencyKey] : [])
        let example = operation.example
        array { writer in
            for parameter in PathParameter.all(in: endpoint.path.parameterNames) {
                writer.parameter(
                    "path",
                    Parameter(parameter.name, parameter.schema, parameter.text, isRequired: true),
                    example: parameter.name == "user"
                        ? example.user ?? parameter.sample : parameter.sample)
            }
            for parameter in operation.query where !parameter.isPrefix {
                writer.parameter(
                    "query", parameter,
                    example: example.query.first { $0.name == parameter.name }?.value)
            }
            for parameter in fields {
                writer.parameter(
                    "header", parameter,
                    example: example.fields.first { $0.name == parameter.name }?.value)
            }
        }
    }

    /// Writes `x-query-prefixes`: OpenAPI cannot describe query parameters whose names only have a fixed prefix.
    private mutating func prefixes(of operation: Operation) {
        let prefixes = operation.query.filter(\.isPrefix)
        guard !prefixes.isEmpty else { return }
        key("x-query-prefixes")
        array { writer in
            for parameter in prefixes {
                writer.object { writer in
                    writer.member("prefix", parameter.name)
                    writer.member("description", parameter.text)
                }
            }
        }
    }

    /// Writes a parameter object.
    mutating func parameter(
        _ location: String, _ parameter: Parameter, example: String? = nil
    ) {
        object { writer in
            writer.member("name", parameter.name)
            writer.member("in", location)
            writer.member("description", parameter.text)
            writer.member("required", parameter.isRequired)
            writer.key("schema")
            writer.schema(parameter.schema, referring: "#/components/schemas/")
            guard let example else { return }
            writer.key("example")
            if case .integer = parameter.schema, let number = Int64(example) {
                writer.integer(number)
            } else {
                writer.string(example)
            }
        }
    }

    private mutating func body(
        _ body: JSONSchema, of operation: Operation, _ endpoint: Endpoint
    ) {
        key("requestBody")
        object { writer in
            writer.member("required", true)
            writer.key("content")
            writer.object { writer in
                writer.key(endpoint.method == .patch ? PatchType.name : operation.bodyType)
                writer.object { writer in
                    writer.key("schema")
                    writer.schema(body, referring: "#/components/schemas/")
                    guard let example = operation.example.body else { return }
                    if operation.bodyType == JSONLinesType.name {
                        writer.member("example", example)
                    } else {
                        writer.member("example", raw: Array(example.utf8))
                    }
                }
            }
        }
    }

    private mutating func answer(_ answer: ResponseDescription, _ cursor: [Parameter]) {
        object { writer in
            writer.member("description", answer.text)
            writer.fields(answer.fields + cursor)
            guard let schema = answer.schema else { return }
            writer.content(schema, as: answer.type)
        }
    }

    /// Writes the `content` of a body.
    mutating func content(_ schema: JSONSchema, as type: String = "application/json") {
        key("content")
        object { writer in
            writer.key(type)
            writer.object { writer in
                writer.key("schema")
                writer.schema(schema, referring: "#/components/schemas/")
            }
        }
    }

    /// Writes the headers of an answer: references to those that every answer may have, then its own.
    private mutating func fields(_ fields: [Parameter]) {
        key("headers")
        object { writer in
            for field in Parameter.negotiated {
                writer.key(field.name)
                writer.object { $0.member("$ref", "#/components/headers/\(field.name)") }
            }
            for field in fields {
                writer.key(field.name)
                writer.header(field)
            }
        }
    }

    /// Writes a header object.
    mutating func header(_ field: Parameter) {
        object { writer in
            writer.member("description", field.text)
            writer.member("required", field.isRequired)
            writer.key("schema")
            writer.schema(field.schema, referring: "#/components/schemas/")
        }
    }

    /// Writes `x-example`: the operations whose examples must be sent first, and the status of the answer.
    private mutating func example(of operation: Operation, _ endpoint: Endpoint) {
        let makers = PathParameter.makers(in: endpoint.path.parameterNames)
        var after: [String] = []
        for name in makers + operation.example.after where !after.contains(name) {
            after.append(name)
        }
        object { writer in
            writer.key("after")
            writer.array { writer in for name in after { writer.string(name) } }
            guard let answer = operation.answers.first else { return }
            writer.member("status", answer.status)
        }
    }

    /// Writes the description of an event as streams send it and pages list it.
    mutating func event(_ schema: JSONSchema) {
        member(
            "summary",
            "One event, as `data` of a stream or in a page of the log. Webhook requests have other bodies."
        )
        key("requestBody")
        object { writer in writer.content(schema) }
        key("responses")
        object { writer in
            writer.key("2XX")
            writer.object { $0.member("description", "The delivery was accepted.") }
        }
    }

    // MARK: - Failures

    /// Writes the response object of a status with its errors.
    mutating func error(_ status: Int, _ kinds: [APIErrorKind]) {
        let texts = kinds.map { "`\($0.row.id)` (\($0.row.code)): \($0.meaning)." }
        object { writer in
            writer.member("description", texts.joined(separator: " "))
            switch status {
            case 401:
                writer.fields([
                    Parameter(
                        "WWW-Authenticate", .string,
                        "`Bearer`; on the Client API `Layer` with a nonce.")
                ])
            case 409 where kinds.contains(.requestInProgress):
                writer.fields([
                    Parameter(
                        "Retry-After", .integer(0 ... .max),
                        "Seconds, while the first request with the key is in progress.")
                ])
            case 429, 503:
                writer.fields([Parameter("Retry-After", .integer(0 ... .max), "Seconds.")])
            default: writer.fields([])
            }
            writer.content(ErrorJSON.schema)
        }
    }

    /// The name of an error response in the document: its status and its errors.
    static func name(_ status: Int, _ kinds: [APIErrorKind]) -> String {
        ([String(status)] + kinds.map { $0.row.id.description }).joined(separator: ".")
    }
}

extension Endpoint {
    /// The header that names the position of its effect in the feed of the user (Y2); none for reads, and for nonces, which
    /// belong to no application. To end an unknown session has no effect.
    fileprivate var cursorFields: [Parameter] {
        guard family == .client, method != .get, path.description != "/nonces" else { return [] }
        let cursor = Parameter.cursor
        guard path.description == "/sessions/{token}" else { return [cursor] }
        return [Parameter(cursor.name, cursor.schema, cursor.text)]
    }
}
