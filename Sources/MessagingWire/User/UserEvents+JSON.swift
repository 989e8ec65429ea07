import JSON
import Messaging

extension IdentityReplaced: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .identity }

    static var dataSchema: JSONSchema {
        IdentityJSON.schema
    }

    var logSummary: String {
        "set the identity of \(EventLogLine.user(identity.userID))"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: identity.userID)
    }

    func writeData(
        sender: BasicIdentity?, _ presentation: Presentation, into writer: inout JSONWriter
    ) {
        IdentityJSON.write(identity, presentation.links, into: &writer)
    }
}

extension IdentityPatched: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .identity }

    static var dataSchema: JSONSchema {
        .anyOf([IdentityJSON.schema, .object([])])
    }

    var logSummary: String {
        "changed the identity of \(EventLogLine.user(user))"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: user)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: user, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.key("operations")
        writer.array { writer in
            for patch in patches {
                switch patch {
                case .set(let member, let text):
                    writer.operation("set", member.rawValue, .text(text))
                case .setKind(let kind):
                    writer.operation("set", "identity_type", .text(kind.rawValue))
                case .setMetadata(let texts):
                    let members = texts.sorted { $0.key < $1.key }.map { key, text in
                        MetadataTree.Member(key: key, value: .text(text))
                    }
                    writer.operation("set", "metadata", .object(members))
                case .setMetadataKey(let key, let text):
                    writer.operation("set", "metadata.\(key)", .text(text))
                case .deleteMetadataKey(let key): writer.operation("delete", "metadata.\(key)")
                }
            }
        }
    }
}

extension IdentityDeleted: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .identity }

    var logSummary: String {
        "deleted the identity of \(EventLogLine.user(user))"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: user)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: user, links)
    }
}

extension FollowingChanged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .identity }

    var logSummary: String {
        "followed \(EventLogLine.count(added.count, "user")) and unfollowed \(removed.count)"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: follower)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: follower, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.userChanges("following", added: added, removed: removed)
    }
}

extension BlocksChanged: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .identity }

    var logSummary: String {
        "blocked \(EventLogLine.count(added.count, "user")) for \(EventLogLine.user(owner)) and "
            + "lifted \(EventLogLine.count(removed.count, "block"))"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: owner)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: owner, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.userChanges("blocks", added: added, removed: removed)
    }
}

extension BadgeSet: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .push }

    var logSummary: String {
        "set the external unread count of \(EventLogLine.user(user)) to \(externalUnreadCount)"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: user)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: user, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("external_unread_count", externalUnreadCount)
    }
}

extension UserSuspended: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        isSuspended ? "suspended \(EventLogLine.user(user))" : "resumed \(EventLogLine.user(user))"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: user)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: user, links)
    }

    func writeChanges(into writer: inout JSONWriter) {
        writer.member("suspended", isSuspended)
    }
}

extension SessionsEnded: EventPayloadJSON {
    static var logCategory: EventLogLine.Category { .access }

    var logSummary: String {
        "ended all sessions of \(EventLogLine.user(user))"
    }

    func subject(in links: LinkBuilder) -> String {
        UserIDJSON.text(identity: user)
    }

    func writeMembers(_ links: LinkBuilder, into writer: inout JSONWriter) {
        writer.reference(to: user, links)
    }
}
