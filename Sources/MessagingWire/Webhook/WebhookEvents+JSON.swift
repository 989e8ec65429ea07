import JSON
import Messaging

extension WebhookCreated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .webhook }

    static var dataSchema: JSONSchema {
        WebhookJSON.schema
    }

    var logSummary: String {
        // The query may hold a secret by which the receiver recognizes its callers.
        let target = String(webhook.target.prefix { $0 != "?" })
        return "created webhook \(webhook.id) to \(EventLogLine.printable(target))"
    }

    func subject(in links: LinkBuilder) -> String {
        links.webhookID(webhook.id)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        WebhookJSON.writeMembers(webhook, links, into: &writer)
    }
}

extension WebhookUpdated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .webhook }

    static var dataSchema: JSONSchema {
        WebhookJSON.schema
    }

    var logSummary: String {
        switch webhook.status {
        case .unverified: "requested verification of webhook \(webhook.id)"
        case .active: "activated webhook \(webhook.id)"
        case .inactive(let reason):
            "deactivated webhook \(webhook.id), \(EventLogLine.printable(reason))"
        }
    }

    func subject(in links: LinkBuilder) -> String {
        links.webhookID(webhook.id)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        WebhookJSON.writeMembers(webhook, links, into: &writer)
    }

    func writeChanges(into writer: inout JSONWriter) {
        WebhookJSON.write(webhook.status, into: &writer)
    }
}

extension WebhookSecretRotated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .webhook }

    static var dataSchema: JSONSchema {
        WebhookJSON.schema
    }

    var logSummary: String {
        "replaced the secret of webhook \(webhook.id)"
    }

    func subject(in links: LinkBuilder) -> String {
        links.webhookID(webhook.id)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        WebhookJSON.writeMembers(webhook, links, into: &writer)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("former_secret_until", TimestampJSON.text(formerUntil))
    }
}

extension WebhookDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .webhook }

    static var dataSchema: JSONSchema {
        WebhookJSON.schema
    }

    var logSummary: String {
        "deleted webhook \(webhook.id)"
    }

    func subject(in links: LinkBuilder) -> String {
        links.webhookID(webhook.id)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        WebhookJSON.writeMembers(webhook, links, into: &writer)
    }
}
