public import JSON
public import Messaging

/// A webhook in responses, never with its secret (webhooks §1.1).
public enum WebhookJSON {
    /// Writes the object.
    public static func write(
        _ webhook: WebhookSummary, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.object { writer in writeMembers(webhook, links, into: &writer) }
    }

    /// Writes the members of the object.
    static func writeMembers(
        _ webhook: WebhookSummary, _ links: LinkBuilder, into writer: inout JSONWriter
    ) {
        writer.member("id", links.webhookID(webhook.id))
        writer.member("url", links.webhook(webhook.id))
        writer.member("version", webhook.payloadVersion.rawValue)
        writer.member("target_url", webhook.target)
        writer.key("events")
        writer.array { writer in
            for topic in webhook.topics {
                writer.string(WebhookTopicJSON.text(topic, webhook.payloadVersion))
            }
        }
        write(webhook.status, into: &writer)
        writer.member("created_at", TimestampJSON.text(webhook.createdAt))
        writer.key("config")
        WebhookConfigJSON.write(webhook.config ?? [], into: &writer)
    }

    /// Writes `status` and, if inactive, `status_reason` after it.
    static func write(_ status: Webhook.Status, into writer: inout JSONWriter) {
        writer.member("status", text(status))
        if case .inactive(let reason) = status { writer.member("status_reason", reason) }
    }

    /// Returns the status without its reason.
    static func text(_ status: Webhook.Status) -> String {
        switch status {
        case .unverified: "unverified"
        case .active: "active"
        case .inactive: "inactive"
        }
    }
}

/// The body of a registration (webhooks §1.2).
public enum WebhookDraftJSON {
    /// Reads `version`, `target_url`, `events`, `secret` and `config`: each first for presence, then for
    /// its value.
    ///
    /// - Parameter isTarget: Whether a text is the URL of an allowed target, as far as that is known
    ///   without resolving its host.
    /// - Throws: The first error.
    public static func read(
        _ body: JSONValue, isTarget: (String) -> Bool
    ) throws(Rejection) -> Webhook.Draft {
        guard let value = body.present("version") else { throw .missing("version") }
        guard let version = value.string.flatMap(WebhookVersion.init) else {
            throw .invalid("version", .webhookVersion)
        }
        guard let value = body.present("target_url") else { throw .missing("target_url") }
        guard let target = value.string, isTarget(target) else {
            throw .invalid("target_url", .webhookTarget)
        }
        let topics = try topics(of: body, version)
        guard let value = body.present("secret") else { throw .missing("secret") }
        guard let secret = value.string else { throw .invalid("secret", .webhookSecret) }
        return try Webhook.Draft(
            payloadVersion: version, target: target, topics: topics, secret: secret,
            config: WebhookConfigJSON.read(body))
    }

    private static func topics(
        of body: JSONValue, _ version: WebhookVersion
    ) throws(Rejection) -> [WebhookTopic] {
        guard let value = body.present("events") else { throw .missing("events") }
        guard value.kind == .array, value.count > 0 else {
            throw .invalid("events", .webhookEvents)
        }
        var topics: [WebhookTopic] = []
        for element in value.elements {
            guard let name = element.string else { throw .invalid("events", .webhookEvents) }
            guard let topic = WebhookTopicJSON.read(name, version) else {
                let known = WebhookTopicJSON.names(version).joined(separator: ", ")
                throw .invalid("events", .webhookEventName, .init(path: known, text: name))
            }
            topics.append(topic)
        }
        return topics
    }
}

/// The settings that are registered with a webhook and included in every request (webhooks §1.1).
public enum WebhookConfigJSON {
    /// Reads the member `config`: a flat object of strings; `nil` if there is none.
    static func read(_ body: JSONValue) throws(Rejection) -> [Webhook.Setting]? {
        guard let value = body.present("config") else { return nil }
        guard value.kind == .object else { throw .invalid("config", .webhookConfig) }
        var settings: [Webhook.Setting] = []
        for (name, value) in value.members {
            guard let text = value.string else { throw .invalid("config", .webhookConfig) }
            settings.append(Webhook.Setting(name: name, value: text))
        }
        return settings
    }

    /// Writes the object, its members in the order of webhooks §3.2.
    public static func write(_ settings: [Webhook.Setting], into writer: inout JSONWriter) {
        writer.object { writer in
            for setting in settings.inMemberOrder(by: \.name) {
                writer.key(setting.name)
                writer.string(setting.value)
            }
        }
    }
}

extension WebhookJSON {
    /// The schema of a webhook in responses.
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
                "status_reason", JSONSchema.string.withDescription("The reason, if inactive.")),
            .required("created_at", .time),
            .required("config", WebhookConfigJSON.schema),
        ]))

    /// The schema of the status of a webhook.
    static let status = JSONSchema.choice(["unverified", "active", "inactive"])
}

extension WebhookDraftJSON {
    /// The topic names of all versions, each once.
    static let names = WebhookVersion.allCases.flatMap(WebhookTopicJSON.names)
        .reduce(into: [String]()) { names, name in
            if !names.contains(name) { names.append(name) }
        }

    /// The schema of a registration.
    public static let schema = JSONSchema.named(
        "WebhookDraft",
        .object([
            .required(
                "version",
                JSONSchema.choice(WebhookVersion.allCases.map(\.rawValue))
                    .withDescription("The version of the request bodies.")),
            .required(
                "target_url",
                JSONSchema.string(length: 1...Webhook.Draft.targetLimit)
                    .withDescription(
                        "An absolute URL, `https` and public unless the server allows more.")),
            .required(
                "events",
                JSONSchema.array(of: .choice(names), 1 ... .max)
                    .withDescription("Event names of that version.")),
            .required("secret", .storable(length: 1...Webhook.Draft.secretLimit)),
            .optional("config", WebhookConfigJSON.schema),
        ]))
}

extension WebhookConfigJSON {
    /// The schema of the settings: an object of strings.
    static let schema = JSONSchema.object([], others: .string)
}
