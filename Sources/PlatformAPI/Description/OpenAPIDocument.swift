import HTTP
import JSON
import Messaging
import MessagingWire

/// The OpenAPI 3.1 document of one version of the Platform API or the Client API (X11).
///
/// Versions differ in schemas, and OpenAPI has one schema for each status, so each version has its own document.
struct OpenAPIDocument {
    let version: APIVersion
    /// Whether it describes the Client API instead of the Platform API.
    let isOfClients: Bool
    let publicBase: String
    /// The limits that the schemas show.
    let limits: MessagingLimits

    private static let schemas = "#/components/schemas/"
    private static let responses = "#/components/responses/"

    /// An endpoint with its description.
    private typealias DescribedEndpoint = (endpoint: Endpoint, operation: Operation)

    private var endpoints: [DescribedEndpoint] {
        (isOfClients ? Endpoint.client : Endpoint.all).filter { $0.versions.contains(version) }.map
        { endpoint in
            (endpoint, endpoint.describe(version, limits))
        }
    }

    /// The whole document.
    func json() -> [UInt8] {
        let endpoints = endpoints
        var writer = JSONWriter(capacity: 256 << 10)
        writer.object { writer in
            writer.member("openapi", "3.1.0")
            writer.key("info")
            info(into: &writer)
            writer.key("servers")
            writer.array { writer in
                writer.object { $0.member("url", publicBase) }
            }
            writer.key("security")
            writer.array { writer in
                writer.object { writer in
                    writer.key(credential)
                    writer.array { _ in }
                }
            }
            writer.key("paths")
            paths(endpoints, into: &writer)
            writer.key("components")
            components(endpoints, into: &writer)
            guard !isOfClients else { return }
            writer.key("webhooks")
            webhooks(into: &writer)
        }
        return writer.finish()
    }

    /// The name of the security scheme.
    private var credential: String { isOfClients ? "session" : "bearer" }

    /// Describes what OpenAPI cannot express.
    private static let socket = """
        `GET /websocket?session_token=TOKEN` with the sub-protocol `layer-1.0`, `layer-2.0` or `layer-3.0` opens a WebSocket, \
        whose packets the rules of the Client API describe (section 5).


        """

    private func info(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("title", isOfClients ? "Parley Client API" : "Parley Platform API")
            writer.member("version", version.rawValue)
            writer.member(
                "description",
                """
                A request names its version: \
                `Accept: \(APIFamily.platform.mediaType); version=\(version.rawValue)`. OpenAPI does \
                not describe that header, so set it as a default header of your client. Without it, and for \
                `application/json` or `*/*`, the version is 3.0, unless the operator has set \
                `api.strict_accept`: then the answer is 406. \
                \(isOfClients ? "" : "Operations on webhooks have a separate media type (`x-accept`). ")\
                The answers are `application/json` in all versions, and \
                `Parley-Version` names the version of each.

                Unknown query parameters are ignored, and `Parley-Ignored-Parameters` lists them; with \
                `Prefer: handling=strict` they are 422. The `url` of an error leads to \
                `\(ErrorJSON.page)` on this server, which explains each error.

                \(isOfClients ? Self.socket : "")This document describes version \(version.rawValue). The others are at \
                `?\(isOfClients ? "api=client&" : "")version=` followed by \
                \(APIVersion.allCases.filter { $0 != version }.map { "`\($0.rawValue)`" }.joined(separator: ", ")).

                The examples are sent by the tests, one after another: `x-example` names the \
                operations whose examples come before, and the status of the answer.
                """)
        }
    }

    private func paths(_ endpoints: [DescribedEndpoint], into writer: inout JSONWriter) {
        var templates: [PathTemplate] = []
        for described in endpoints where !templates.contains(described.endpoint.path) {
            templates.append(described.endpoint.path)
        }
        writer.object { writer in
            for template in templates {
                writer.key(template.description)
                writer.object { writer in
                    for described in endpoints where described.endpoint.path == template {
                        writer.key(described.endpoint.method.rawValue.lowercased())
                        writer.operation(described.operation, of: described.endpoint, in: version)
                    }
                }
            }
        }
    }

    /// The version whose document describes the events of the log: they have its form in all versions.
    private static let versionOfEvents = APIVersion.v3_0

    /// Writes `webhooks`: the requests to webhooks, and each type of event of the log.
    private func webhooks(into writer: inout JSONWriter) {
        writer.object { writer in
            for delivery in WebhookRequestDescription.all(version.webhooks) {
                writer.key(delivery.type)
                writer.delivery(delivery, version.webhooks)
            }
            guard version == Self.versionOfEvents else { return }
            for type in EventType.allCases {
                writer.key(type.rawValue)
                writer.object { writer in
                    writer.key("post")
                    writer.object { writer in writer.event(EventJSON.schema(of: type)) }
                }
            }
        }
    }

    private func components(_ endpoints: [DescribedEndpoint], into writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("securitySchemes")
            writer.object { writer in
                writer.key(credential)
                writer.object { writer in
                    if isOfClients {
                        writer.member("type", "apiKey")
                        writer.member("in", "header")
                        writer.member("name", "Authorization")
                        writer.member(
                            "description",
                            "`Layer session-token=\"…\"` with the token of `POST /sessions`.")
                    } else {
                        writer.member("type", "http")
                        writer.member("scheme", "bearer")
                        writer.member("description", "A token of the application.")
                    }
                }
            }
            writer.key("schemas")
            writer.object { writer in
                for (name, schema) in schemas(endpoints).sorted(by: {
                    $0.key < $1.key
                }) {
                    writer.key(name)
                    writer.schema(schema, referring: Self.schemas)
                }
            }
            writer.key("parameters")
            writer.object { writer in
                for field in isOfClients ? [] : WebhookRequestDescription.fields {
                    writer.key(field.name)
                    writer.parameter("header", field)
                }
            }
            writer.key("headers")
            writer.object { writer in
                for field in Parameter.negotiated {
                    writer.key(field.name)
                    writer.header(field)
                }
            }
            writer.key("responses")
            writer.object { writer in
                for (name, error) in Self.errors(endpoints).sorted(by: { $0.key < $1.key }) {
                    writer.key(name)
                    writer.error(error.status, error.kinds)
                }
            }
        }
    }

    private func schemas(_ endpoints: [DescribedEndpoint]) -> [String: JSONSchema] {
        var found: [String: JSONSchema] = [:]
        ErrorJSON.schema.collectNamed(into: &found)
        for delivery in isOfClients ? [] : WebhookRequestDescription.all(version.webhooks) {
            delivery.schema.collectNamed(into: &found)
        }
        if !isOfClients, version == Self.versionOfEvents {
            for type in EventType.allCases {
                EventJSON.schema(of: type).collectNamed(into: &found)
            }
        }
        for described in endpoints {
            described.operation.body?.collectNamed(into: &found)
            for answer in described.operation.answers { answer.schema?.collectNamed(into: &found) }
        }
        return found
    }

    /// The error responses of all operations, each once.
    private static func errors(
        _ endpoints: [DescribedEndpoint]
    ) -> [String: (status: Int, kinds: [APIErrorKind])] {
        var found: [String: (status: Int, kinds: [APIErrorKind])] = [:]
        for described in endpoints {
            for (status, kinds) in PossibleErrors(of: described.endpoint, described.operation)
                .byStatus
            {
                found[JSONWriter.name(status, kinds)] = (status, kinds)
            }
        }
        return found
    }
}
