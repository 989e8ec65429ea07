import JSON
import Messaging

extension ConversationCreated: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        ConversationJSON.schema(.v3_0)
    }

    var logSummary: String {
        let users = conversation.participants.users
        return "created conversation \(conversation.id) with "
            + EventLogLine.count(users.count, "participant")
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation.id, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation.id, links)
    }
}

extension ConversationMatched: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "requested conversation \(conversation), which exists"
            + (alias.map { alias in ", as \(alias)" } ?? "")
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        if let alias { writer.member("alias", IdentifierJSON.text(alias, in: .conversations)) }
    }
}

extension ConversationShown: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "made conversation \(conversation) visible to "
            + EventLogLine.count(users.count, "user")
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.users("shown_to", users)
    }
}

extension ConversationAnnounced: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "made conversation \(conversation) visible to all its participants"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }
}

extension ConversationHidden: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "deleted conversation \(conversation) from their own view"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.users("hidden_from", [user])
        if let upTo {
            writer.key("through")
            PositionJSON.write(upTo, into: &writer)
        }
    }
}

extension ParticipantsChanged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        .anyOf([ConversationJSON.schema(.v3_0), .object([])])
    }

    var logSummary: String {
        "added \(EventLogLine.count(added.count, "participant")) to conversation \(conversation) and removed "
            + "\(removed.count)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.key("participants")
        writer.object { writer in
            writer.users("added", added)
            writer.users("removed", removed)
            // A `set` may move participants that stay, so the resulting order is written, too (ruling 28).
            writer.users("order", participants.users)
        }
    }
}

extension MetadataChanged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        .anyOf([ConversationJSON.schema(.v3_0), .object([])])
    }

    var logSummary: String {
        "changed the metadata of conversation \(conversation)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        // Applied in order to the former metadata, the operations give the new metadata.
        writer.key("operations")
        writer.array { writer in writer.operations(of: writes) }
    }
}

extension JSONWriter {
    /// Writes the operations of a patch that has the effect of writes.
    mutating func operations(of metadata: Metadata) {
        for (path, write) in metadata.writes {
            let property = (["metadata"] + path).joined(separator: ".")
            switch write.value {
            case .deleted: operation("delete", property)
            case .object: operation("set", property, .object([]))
            case .text(let text): operation("set", property, .text(text))
            }
        }
    }
}

extension ConversationMerged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    static var dataSchema: JSONSchema {
        .anyOf([ConversationJSON.schema(.v3_0), .object([])])
    }

    var logSummary: String {
        loser.map { loser in "merged conversation \(loser) into \(winner)" }
            ?? "sorted the messages of conversation \(winner)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(winner, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: winner, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.key("aliases")
        writer.array { writer in
            for alias in aliases {
                writer.string(IdentifierJSON.text(alias, in: .conversations))
            }
        }
        writer.key("operations")
        writer.array { writer in writer.operation("set", "metadata", metadata.view) }
        writer.key("messages")
        writer.array { writer in
            for relocation in relocations
            where relocation.conversation != winner || !relocation.isUnmoved {
                write(relocation, into: &writer)
            }
        }
    }

    /// Writes a range of moved messages: one at position p in `from`…`to` now has position p − `from` + `moved_to`
    /// (X1.5).
    private func write(_ relocation: Relocation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.member(
                "conversation", IdentifierJSON.text(relocation.conversation, in: .conversations))
            let positions: [(StaticString, Position)] = [
                ("from", relocation.from), ("to", relocation.through), ("moved_to", relocation.to),
            ]
            for (name, position) in positions {
                writer.key(name)
                PositionJSON.write(position, into: &writer)
            }
        }
    }
}

extension ConversationDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .sync }

    var logSummary: String {
        "deleted conversation \(conversation.id)"
    }

    func subject(in links: LinkBuilder) -> String {
        IdentifierJSON.text(conversation.id, in: .conversations)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: conversation.id, links)
    }
}
