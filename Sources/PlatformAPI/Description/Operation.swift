import JSON
import MessagingWire

/// What the description says of an endpoint in one version (X11).
///
/// It stands behind the endpoint's line, as a trailing closure of the version:
///
/// ```swift
/// Endpoint(
///     .put, "/apps/{app}/users/{user}/badge", "Sets a user's external unread count.",
///     .body { call, body in try await call.setBadge(body) }
/// ) { version in
///     Operation(
///         "setBadge", body: BadgeJSON.schema, answers: [.noContent],
///         example: Example(body: #"{"external_unread_count":13}"#))
/// }
/// ```
///
/// - The shapes of bodies and answers are a `schema` beside the reader or writer of the same JSON in
///   `MessagingWire`; one that several places show is `.named`.
/// - What follows from the line itself is not said again: the path's parameters (``PathParameter``),
///   the key of an endpoint that takes one, the credential, and the errors every endpoint of its kind
///   may answer (``ErrorAnswers``). Only further ones are listed in `errors`.
/// - The example is sent by the tests as it stands, in every version, to an application in which only
///   the examples have been sent that make what it needs; see ``Example``.
struct Operation: Sendable {
    /// Its name in programs that are made from the description; in a document it stands once.
    let name: String
    /// What the body looks like; `nil` where none is read.
    let body: JSONSchema?
    /// The media type of the body.
    let bodyType: String
    /// Parameters behind the `?`.
    let query: [Parameter]
    /// Fields of the request's head.
    let fields: [Parameter]
    /// The ways to succeed; the first is the usual one.
    let answers: [AnswerShape]
    /// Errors beside those that every endpoint of its kind may answer.
    let errors: [APIErrorTable]
    /// A request that succeeds.
    let example: Example

    init(
        _ name: String, body: JSONSchema? = nil, bodyType: String = "application/json",
        query: [Parameter] = [], fields: [Parameter] = [], answers: [AnswerShape],
        errors: [APIErrorTable] = [], example: Example = Example()
    ) {
        self.name = name
        self.body = body
        self.bodyType = bodyType
        self.query = query
        self.fields = fields
        self.answers = answers
        self.errors = errors
        self.example = example
    }
}
