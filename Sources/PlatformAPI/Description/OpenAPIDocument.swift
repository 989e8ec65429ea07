import HTTP
import JSON
import Messaging
import MessagingWire

/// The interface in one of its versions, described as OpenAPI 3.1 (X11).
///
/// Versions differ in shapes only, and a description in OpenAPI has one shape for each status: so each
/// version has a document of its own, and none speaks of another.
struct OpenAPIDocument {
    let version: APIVersion
    let publicBase: String
    /// What the schemas show as bounds.
    let limits: MessagingLimits

    private static let schemas = "#/components/schemas/"
    private static let responses = "#/components/responses/"

    /// An endpoint with what is said of it.
    private typealias Line = (endpoint: Endpoint, operation: Operation)

    private var lines: [Line] {
        Endpoint.all.filter { $0.versions.contains(version) }.map { endpoint in
            (endpoint, endpoint.describe(version, limits))
        }
    }

    /// The whole document.
    func json() -> [UInt8] {
        let lines = lines
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
                    writer.key("bearer")
                    writer.array { _ in }
                }
            }
            writer.key("paths")
            paths(lines, into: &writer)
            writer.key("components")
            components(lines, into: &writer)
            writer.key("webhooks")
            webhooks(into: &writer)
        }
        return writer.finish()
    }

    private func info(into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("title", "Parley Platform API")
            writer.member("version", version.rawValue)
            writer.member(
                "description",
                """
                A request names its version: \
                `Accept: \(APIFamily.platform.mediaType); version=\(version.rawValue)`. OpenAPI leaves that \
                header to its users, so set it as a default header of your client. Without it, and for \
                `application/json` or `*/*`, the version is 3.0, unless the operator has set \
                `api.strict_accept`: then the answer is 406. Operations on webhooks have a media type of \
                their own (`x-accept`). The answers are `application/json` in all versions, and \
                `Parley-Version` names the version of each.

                Unknown query parameters are ignored, and `Parley-Ignored-Parameters` lists them; with \
                `Prefer: handling=strict` they are 422. The `url` of an error leads to \
                `\(ErrorJSON.page)` on this server, which explains each error.

                This document describes version \(version.rawValue). The others are at \
                `?version=` followed by \
                \(APIVersion.allCases.filter { $0 != version }.map { "`\($0.rawValue)`" }.joined(separator: ", ")).

                The examples are sent by the tests, one after another: `x-example` names the \
                operations whose examples come before, and the status of the answer.
                """)
        }
    }

    private func paths(_ lines: [Line], into writer: inout JSONWriter) {
        var templates: [PathTemplate] = []
        for line in lines where !templates.contains(line.endpoint.path) {
            templates.append(line.endpoint.path)
        }
        writer.object { writer in
            for template in templates {
                writer.key(template.description)
                writer.object { writer in
                    for line in lines where line.endpoint.path == template {
                        writer.key(line.endpoint.method.rawValue.lowercased())
                        writer.operation(line.operation, of: line.endpoint, in: version)
                    }
                }
            }
        }
    }

    /// Events are shown as in 3.0 whoever asks, so its document types them.
    private static let versionOfEvents = APIVersion.v3_0

    /// What webhooks are sent, and what each type of event of the log looks like: the place OpenAPI has
    /// for what a server tells of itself.
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

    private func components(_ lines: [Line], into writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("securitySchemes")
            writer.object { writer in
                writer.key("bearer")
                writer.object { writer in
                    writer.member("type", "http")
                    writer.member("scheme", "bearer")
                    writer.member("description", "A token of the application.")
                }
            }
            writer.key("schemas")
            writer.object { writer in
                for (name, schema) in Self.schemas(lines, version).sorted(by: { $0.key < $1.key }) {
                    writer.key(name)
                    writer.schema(schema, referring: Self.schemas)
                }
            }
            writer.key("parameters")
            writer.object { writer in
                for field in WebhookRequestDescription.fields {
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
                for (name, error) in Self.errors(lines).sorted(by: { $0.key < $1.key }) {
                    writer.key(name)
                    writer.error(error.status, error.kinds)
                }
            }
        }
    }

    private static func schemas(
        _ lines: [Line], _ version: APIVersion
    ) -> [String: JSONSchema] {
        var found: [String: JSONSchema] = [:]
        ErrorJSON.schema.collectNamed(into: &found)
        for delivery in WebhookRequestDescription.all(version.webhooks) {
            delivery.schema.collectNamed(into: &found)
        }
        if version == versionOfEvents {
            for type in EventType.allCases {
                EventJSON.schema(of: type).collectNamed(into: &found)
            }
        }
        for line in lines {
            line.operation.body?.collectNamed(into: &found)
            for answer in line.operation.answers { answer.schema?.collectNamed(into: &found) }
        }
        return found
    }

    /// Every failure of every line, each once.
    private static func errors(
        _ lines: [Line]
    ) -> [String: (status: Int, kinds: [APIErrorKind])] {
        var found: [String: (status: Int, kinds: [APIErrorKind])] = [:]
        for line in lines {
            for (status, kinds) in PossibleErrors(of: line.endpoint, line.operation).byStatus {
                found[JSONWriter.name(status, kinds)] = (status, kinds)
            }
        }
        return found
    }
}
