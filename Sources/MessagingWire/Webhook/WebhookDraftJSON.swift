public import JSON
public import Messaging

/// The body of a registration (webhooks §1.2).
public enum WebhookDraftJSON {
    /// Reads `version`, `target_url`, `events`, `secret` and `config`: each first for being there, then
    /// for its value.
    ///
    /// - Parameter isTarget: Whether a text is the URL of a target that may be called, as far as can be
    ///   said without looking up its host.
    /// - Throws: The first problem.
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
    ) throws(Rejection) -> [Topic] {
        guard let value = body.present("events") else { throw .missing("events") }
        guard value.kind == .array, value.count > 0 else {
            throw .invalid("events", .webhookEvents)
        }
        var topics: [Topic] = []
        for element in value.elements {
            guard let name = element.string else { throw .invalid("events", .webhookEvents) }
            guard let topic = TopicJSON.read(name, version) else {
                let known = TopicJSON.names(version).joined(separator: ", ")
                throw .invalid("events", .webhookEventName, .init(path: known, text: name))
            }
            topics.append(topic)
        }
        return topics
    }
}
