import JSON
import Messaging
import MessagingWire

/// The description of the requests to webhooks of a version (webhooks §3, §4).
struct WebhookRequestDescription {
    /// The name of the event.
    let type: String
    let schema: JSONSchema
    /// Whether events of this kind can occur.
    fileprivate let isSent: Bool

    /// All events of a version to which a webhook may subscribe, and the test event.
    static func all(_ version: WebhookVersion) -> [WebhookRequestDescription] {
        WebhookTopic.all(in: version).map { topic in
            WebhookRequestDescription(
                type: WebhookTopicJSON.text(topic, version),
                schema: WebhookEventJSON.schema(of: topic, version), isSent: topic.isSent)
        } + [
            WebhookRequestDescription(
                type: WebhookTestJSON.type, schema: WebhookEventJSON.testSchema(version),
                isSent: true)
        ]
    }

    /// The headers of every delivery, except those of length and type.
    static let fields = [
        Parameter(
            "layer-webhook-signature", .text(JSONTextSchema(pattern: "^[0-9a-f]{40}$")),
            "HMAC-SHA1 of the body under the secret, in lower-case hexadecimal digits.",
            isRequired: true),
        Parameter(
            "layer-webhook-request-id", .uuid, "`event.id`: the same in all attempts.",
            isRequired: true),
        Parameter("layer-webhook-id", .webhook, "The webhook.", isRequired: true),
        Parameter("webhook-id", .uuid, "`event.id`: the same in all attempts.", isRequired: true),
        Parameter(
            "webhook-timestamp", .text(JSONTextSchema(pattern: "^[0-9]+$")),
            "Seconds since 1970, of this attempt.", isRequired: true),
        Parameter(
            "webhook-signature",
            .text(JSONTextSchema(pattern: "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$")),
            "HMAC-SHA256 of id, timestamp and body with dots between them, in Base64; while a secret "
                + "replaces another, one of each.", isRequired: true),
        Parameter(
            "traceparent",
            .text(JSONTextSchema(pattern: "^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$")),
            "The trace context of the request that caused the event, if it had one, with the span "
                + "of this attempt."),
    ]
}

extension WebhookTopic {
    /// Whether events of the topic occur; a webhook can subscribe to those of channels, which do not exist.
    fileprivate var isSent: Bool {
        switch self {
        case .channelCreated, .channelUpdated, .channelDeleted, .membershipCreated,
            .membershipDeleted:
            false
        default: true
        }
    }
}

extension APIVersion {
    /// The version of webhooks whose bodies have the form of this version's answers.
    var webhooks: WebhookVersion {
        switch self {
        case .v1_0, .v1_1: .v1_0
        case .v2_0: .v2_0
        case .v3_0: .v3_0
        }
    }
}

extension JSONWriter {
    /// Writes the description of the requests for one type of event.
    mutating func delivery(_ delivery: WebhookRequestDescription, _ version: WebhookVersion) {
        object { writer in
            writer.key("post")
            writer.object { writer in
                writer.member(
                    "summary",
                    delivery.isSent
                        ? "A delivery to webhooks of version \(version.rawValue)."
                        : "Can be subscribed to, but is not sent yet.")
                writer.key("security")
                writer.array { _ in }
                writer.key("parameters")
                writer.array { writer in
                    writer.parameter(
                        "header",
                        Parameter(
                            "layer-webhook-event-type", .choice([delivery.type]), "`event.type`.",
                            isRequired: true))
                    for field in WebhookRequestDescription.fields {
                        writer.object { $0.member("$ref", "#/components/parameters/\(field.name)") }
                    }
                }
                writer.key("requestBody")
                writer.object { writer in
                    writer.member("required", true)
                    writer.content(
                        delivery.schema,
                        as: "\(APIFamily.webhooks.mediaType); version=\(version.rawValue)")
                }
                writer.key("responses")
                writer.object { writer in
                    for (status, text) in [
                        ("2XX", "The delivery was accepted."),
                        ("410", "The webhook is deactivated."),
                        ("default", "The delivery is retried."),
                    ] {
                        writer.key(status)
                        writer.object { $0.member("description", text) }
                    }
                }
            }
        }
    }
}
