import JSON
import Messaging

extension ProviderCreated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "created provider \(provider.id), \(EventLogLine.printable(provider.name))"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(provider.id, in: .providers)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.member("id", subject(in: links))
        writer.member("name", provider.name)
        writer.member("created_at", TimestampJSON.text(provider.createdAt))
    }
}

extension ProviderDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String { "deleted provider \(provider)" }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(provider, in: .providers)
    }
}

extension ProviderKeyCreated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "added key \(key.id), \(key.algorithm.rawValue), to provider \(key.provider)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(key.id, in: .keys)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        ProviderJSON.writeMembers(of: key, into: &writer)
        writer.member("provider_id", IdentifierJSON.text(key.provider, in: .providers))
    }
}

extension ProviderKeyUpdated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String { isDisabled ? "disabled key \(key)" : "enabled key \(key)" }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(key, in: .keys)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("disabled", isDisabled)
    }
}

extension ProviderKeyDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String { "deleted key \(key)" }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(key, in: .keys)
    }
}
