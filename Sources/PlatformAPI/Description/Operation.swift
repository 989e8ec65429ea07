import HTTP
import JSON
import Messaging
import MessagingWire

/// The description of an endpoint in one version (X11).
///
/// It is the trailing closure of an endpoint's declaration, called with the version:
///
/// ```swift
/// Endpoint(
///     .put, "/apps/{app}/users/{user}/badge", "Sets a user's external unread count.",
///     .jsonBody { context, body in try await context.setBadge(body) }
/// ) { version in
///     Operation(
///         "setBadge", body: BadgeJSON.schema, answers: [.noContent],
///         example: Example(body: #"{"external_unread_count":13}"#))
/// }
/// ```
///
/// - The shapes of bodies and answers are a `schema` beside the reader or writer of the same JSON in
///   `MessagingWire`; a shape that is used several times is `.named`.
/// - What follows from the endpoint itself is not repeated: the path's parameters (``PathParameter``),
///   the key of an endpoint that takes one, the credential, and the errors every endpoint of its kind
///   may answer (``PossibleErrors``). Only further ones are listed in `errors`.
/// - Tests send the example unchanged, in every version, after the examples that create the objects it
///   needs; see ``Example``.
struct Operation: Sendable {
    /// The `operationId`, unique in a document.
    let name: String
    /// The shape of the body; `nil` where none is read.
    let body: JSONSchema?
    /// The media type of the body.
    let bodyType: String
    /// Query parameters.
    let query: [Parameter]
    /// Headers of the request.
    let fields: [Parameter]
    /// The successful responses; the first is the most common.
    let answers: [ResponseDescription]
    /// Errors in addition to those of every endpoint of its kind.
    fileprivate let errors: [APIErrorKind]
    /// A request that succeeds.
    let example: Example

    init(
        _ name: String, body: JSONSchema? = nil, bodyType: String = "application/json",
        query: [Parameter] = [], fields: [Parameter] = [], answers: [ResponseDescription],
        errors: [APIErrorKind] = [], example: Example = Example()
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

    /// The same operation with another name.
    ///
    /// - Parameter rename: Returns the new names of the operations that its example needs.
    func named(_ name: String, _ rename: (String) -> String) -> Operation {
        Operation(
            name, body: body, bodyType: bodyType, query: query, fields: fields, answers: answers,
            errors: errors,
            example: Example(
                query: example.query, fields: example.fields, user: example.user,
                body: example.body, after: example.after.map(rename)))
    }
}

/// A successful response of an endpoint.
struct ResponseDescription: Sendable {
    let status: Int
    /// The meaning of the status, as one sentence.
    let text: String
    /// The shape of the body; `nil` for none.
    let schema: JSONSchema?
    let fields: [Parameter]
    /// The media type of the body.
    var type = "application/json"

    static func ok(
        _ schema: JSONSchema, _ text: String = "The object.", _ fields: [Parameter] = []
    ) -> ResponseDescription {
        ResponseDescription(status: 200, text: text, schema: schema, fields: fields)
    }

    /// JSON lines.
    static func lines(_ text: String) -> ResponseDescription {
        ResponseDescription(
            status: 200, text: text, schema: .string, fields: [], type: JSONLinesType.name)
    }

    static func list(of schema: JSONSchema, _ fields: [Parameter] = []) -> ResponseDescription {
        ResponseDescription(
            status: 200,
            text:
                "A page of the list; it has fewer items when they are larger than about 4 MiB together.",
            schema: .array(of: schema),
            fields: [.count, .link, .scan] + fields)
    }

    /// 201; without a schema the body is empty.
    static func created(_ schema: JSONSchema?, _ fields: [Parameter] = []) -> ResponseDescription {
        ResponseDescription(
            status: 201, text: "The object was created.", schema: schema, fields: fields)
    }

    /// 202; without a schema the body is empty.
    static func accepted(
        _ schema: JSONSchema? = nil, _ fields: [Parameter] = []
    ) -> ResponseDescription {
        ResponseDescription(
            status: 202, text: "The request was accepted.", schema: schema, fields: fields)
    }

    static let noContent = noContent([])

    static func noContent(_ fields: [Parameter]) -> ResponseDescription {
        ResponseDescription(
            status: 204, text: "The request succeeded; the answer has no body.", schema: nil,
            fields: fields)
    }

    /// 304: the object still has the version that the client knows (X4).
    static let notModified = ResponseDescription(
        status: 304, text: "The object still has the version in `If-None-Match`.", schema: nil,
        fields: [.tag])

    /// The object after a patch, with `Prefer: return=representation` (X5).
    static func represented(_ schema: JSONSchema) -> ResponseDescription {
        .ok(
            schema, "The changed object, for `Prefer: return=representation`.",
            [.tag, .applied, .contentLocation])
    }
}

/// A request of the description that the tests send.
///
/// The objects it names are created by other examples, sent before it: those that create what its path names
/// (``PathParameter/maker``), and those listed in `after`. Ids that the server chooses are samples here (``Sample``);
/// the tests replace them by the ids in the answers.
struct Example: Sendable {
    /// Query parameters.
    let query: [(name: String, value: String)]
    /// Headers besides the credential, `Accept` and the type of the body.
    let fields: [(name: String, value: String)]
    /// The body, JSON unless ``Operation/bodyType`` is another type; `nil` where none is read.
    let body: String?
    /// The user in the path; `nil` for ``Sample/reader``.
    let user: String?
    /// Further operations whose examples are sent before, in this order.
    let after: [String]

    init(
        query: [(name: String, value: String)] = [], fields: [(name: String, value: String)] = [],
        user: String? = nil, body: String? = nil, after: [String] = []
    ) {
        self.query = query
        self.fields = fields
        self.user = user
        self.body = body
        self.after = after
    }
}

/// Ids that examples use.
enum Sample {
    static let application = "7b2e4c1a-50f3-4a8e-9f6d-2c1d8e3b4a55"
    static let conversation = "0d9f6a7e-3b41-4c58-8a12-6e5f4d3c2b1a"
    static let message = "a1f4c2d8-7e65-4b93-9c0d-1e2f3a4b5c6d"
    static let announcement = "3f2a7c60-18d4-4be2-9a57-c0d1e2f3a4b5"
    static let content = "9c1b7d5e-2f40-4e6a-8b3c-d4e5f6a7b8c9"
    static let export = "5d0e9b3a-6c27-4f81-a94d-b7c8d9e0f1a2"
    static let erasure = "7a3c9e15-4b62-4d80-9f1e-d3e4f5a6b7c8"
    static let webhook = "2d4f6a8c-1b3e-4d5f-8a7c-9e0b1c2d3e4f"
    static let delivery = "6e1f0c4b-7d38-4a92-8b05-c8d9e0f1a2b3"
    static let provider = "4b8d2f61-3e7a-4c95-b0d8-a1c2e3f4b5d6"
    static let key = "8f5a1c3e-6d94-4b27-9e70-b2d3f4a5c6e7"
    static let session = "1c9e7b42-5a3d-4f60-8e21-f0a1b2c3d4e5"
    /// The user that sends messages.
    static let writer = "ana"
    /// The user that reads messages, and on whose behalf the system acts.
    static let reader = "bo"
}

extension Sample {
    /// A user's id in requests of a version, in quotes.
    static func name(_ user: String, _ version: APIVersion) -> String {
        version.namesIdentities ? "\"layer:///identities/\(user)\"" : "\"\(user)\""
    }

    /// The member that names the sender of a message.
    static func sender(_ version: APIVersion) -> String {
        version.namesIdentities
            ? "\"sender_id\":\(name(writer, version))"
            : "\"sender\":{\"user_id\":\(name(writer, version))}"
    }
}

/// The errors of an endpoint, by status.
///
/// Most follow from its declaration: the errors of the checks, those of reading a body, and 404 for a path with ids.
struct PossibleErrors {
    /// The errors of each status, in the order of the error table.
    private(set) var byStatus: [Int: [APIErrorKind]] = [:]

    init(of endpoint: Endpoint, _ operation: Operation) {
        add([
            .invalidHeader, .rateLimited, .invalidRequest, .internalServerError,
            .serviceUnavailable, .invalidEndpoint,
            // An unknown query parameter with strict handling (ruling 21).
            .invalidProperty,
        ])
        if endpoint.needsCredential { add([.authenticationRequired]) }
        if endpoint.family != .client { add([.invalidAppID, .appSuspended]) }
        // The path of the URL is too long (H62).
        add(.invalidRequest, as: 414)
        if endpoint.scope > .read, endpoint.needsCredential { add([.accessDenied]) }
        if endpoint.path.parameterNames.count > (endpoint.family == .client ? 0 : 1),
            endpoint.needsCredential
        {
            add([.notFound])
        }
        if operation.fields.contains(where: \.isRequired) { add([.missingProperty]) }
        if operation.fields.contains(where: { $0.name == Parameter.ifMatch.name }) {
            add([.versionMismatch])
        }
        if endpoint.isKeyed { add([.invalidRequestID]) }
        if endpoint.isRepeatable {
            add([.invalidRequestID, .idempotencyKeyReuse, .requestInProgress])
        }
        switch endpoint.handler {
        case .jsonBody:
            add([.requestTimeout, .missingProperty])
            add(.invalidRequest, as: 413)
            add(.invalidHeader, as: 415)
        case .streamedBody:
            add([.requestTimeout])
            add(.invalidRequest, as: 413)
            add(.invalidHeader, as: 415)
        case .withoutCredential where endpoint.method == .post:
            add([.requestTimeout])
            add(.invalidRequest, as: 413)
            add(.invalidHeader, as: 415)
        case .withoutBody, .cached, .eventStream, .withoutCredential: break
        }
        if endpoint.needsDiskSpace { add(.serviceUnavailable, as: 507) }
        add(operation.errors)
    }

    private mutating func add(_ kinds: [APIErrorKind]) {
        for kind in kinds { add(kind, as: kind.row.status) }
    }

    private mutating func add(_ kind: APIErrorKind, as status: Int) {
        guard byStatus[status]?.contains(kind) != true else { return }
        byStatus[status, default: []].append(kind)
        byStatus[status]?.sort { $0.row.code < $1.row.code }
    }
}
