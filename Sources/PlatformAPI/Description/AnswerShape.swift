import JSON

/// One way in which an endpoint succeeds.
struct AnswerShape: Sendable {
    let status: Int
    /// What that means, in a sentence.
    let text: String
    /// What the body looks like; `nil` for none.
    let schema: JSONSchema?
    let fields: [Parameter]
    /// The media type of the body.
    var type = "application/json"

    static func ok(
        _ schema: JSONSchema, _ text: String = "The object.", _ fields: [Parameter] = []
    ) -> AnswerShape {
        AnswerShape(status: 200, text: text, schema: schema, fields: fields)
    }

    /// Lines of which each is a JSON object.
    static func lines(_ text: String) -> AnswerShape {
        AnswerShape(
            status: 200, text: text, schema: .string, fields: [], type: LinesType.name)
    }

    static func list(of schema: JSONSchema, _ fields: [Parameter] = []) -> AnswerShape {
        AnswerShape(
            status: 200, text: "A page of the list; it ends early at some 4 MiB.",
            schema: .array(of: schema),
            fields: [.count, .link] + fields)
    }

    /// Made; without a schema the body is empty.
    static func created(_ schema: JSONSchema?, _ fields: [Parameter] = []) -> AnswerShape {
        AnswerShape(status: 201, text: "It was made.", schema: schema, fields: fields)
    }

    /// Taken on; without a schema the body is empty.
    static func accepted(
        _ schema: JSONSchema? = nil, _ fields: [Parameter] = []
    ) -> AnswerShape {
        AnswerShape(status: 202, text: "It was accepted.", schema: schema, fields: fields)
    }

    static let noContent = noContent([])

    static func noContent(_ fields: [Parameter]) -> AnswerShape {
        AnswerShape(status: 204, text: "It is done.", schema: nil, fields: fields)
    }

    /// The object has the version the caller knows (X4).
    static let notModified = AnswerShape(
        status: 304, text: "It is still the version you know.", schema: nil, fields: [.tag])

    /// The object after a patch, for who prefers that (X5).
    static func represented(_ schema: JSONSchema) -> AnswerShape {
        .ok(schema, "The object, as preferred.", [.tag, .applied, .contentLocation])
    }
}
