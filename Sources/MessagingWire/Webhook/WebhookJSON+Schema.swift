public import JSON
import Messaging

extension WebhookJSON {
    /// A webhook as answers show it.
    public static let schema = JSONSchema.named(
        "Webhook",
        .object([
            .required("id", .webhook),
            .required("url", .url),
            .required("version", .choice(WebhookVersion.allCases.map(\.rawValue))),
            .required("target_url", .url),
            .required("events", .array(of: .choice(WebhookDraftJSON.names), 1 ... .max)),
            .required("status", status),
            .optional(
                "status_reason", JSONSchema.string.saying("Why, of one that is inactive.")),
            .required("created_at", .time),
            .required("config", WebhookConfigJSON.schema),
        ]))

    /// How a webhook stands.
    static let status = JSONSchema.choice(["unverified", "active", "inactive"])
}

extension WebhookDraftJSON {
    /// The names of all versions; each knows only its own.
    static let names = WebhookVersion.allCases.flatMap(TopicJSON.names)
        .reduce(into: [String]()) { names, name in
            if !names.contains(name) { names.append(name) }
        }

    /// A registration.
    public static let schema = JSONSchema.named(
        "WebhookDraft",
        .object([
            .required(
                "version",
                JSONSchema.choice(WebhookVersion.allCases.map(\.rawValue))
                    .saying("The shape of what it will be sent.")),
            .required(
                "target_url",
                JSONSchema.string(length: 1...Webhook.Draft.targetLimit)
                    .saying("An absolute URL, `https` and public unless the server allows more.")),
            .required(
                "events",
                JSONSchema.array(of: .choice(names), 1 ... .max)
                    .saying("Names of that version.")),
            .required("secret", .storable(length: 1...Webhook.Draft.secretLimit)),
            .optional("config", WebhookConfigJSON.schema),
        ]))
}

extension WebhookConfigJSON {
    /// Texts that stand in all that is sent.
    static let schema = JSONSchema.object([], others: .string)
}
