public import JSON
public import Messaging

/// What is registered with a webhook and stands in all it is sent (webhooks §1.1).
public enum WebhookConfigJSON {
    /// Reads the member `config`: an object of strings, without nesting; `nil` where there is none.
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

    /// Writes the object, its names in the order of webhooks §3.2.
    public static func write(_ settings: [Webhook.Setting], into writer: inout JSONWriter) {
        writer.object { writer in
            for setting in settings.inMemberOrder(by: \.name) {
                writer.key(setting.name)
                writer.string(setting.value)
            }
        }
    }
}
