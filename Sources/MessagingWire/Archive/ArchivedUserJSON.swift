import JSON
import Messaging

extension ArchiveLineJSON {
    static func write(_ application: Application, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.kind(.application)
            writer.member("format", format)
            writer.member("id", application.id.uuid)
            writer.member("name", application.name)
            writer.member("created_at", application.createdAt)
            writer.member("suspended", application.isSuspended)
            writer.member(present: "session_ttl_in_seconds", application.sessionLifetime)
        }
    }

    static func application(_ line: ArchiveLineReader) throws(ArchiveLineError) -> Application {
        guard try line.number("format") == format else {
            throw line.error("format", "is one that this release does not read")
        }
        let name = try line.text("name")
        guard (1...200).contains(name.utf8.count) else {
            throw line.error("name", "must have 1 to 200 bytes")
        }
        return Application(
            id: try line.uuid("id"), name: name, createdAt: try line.moment("created_at"),
            isSuspended: try line.flag("suspended"),
            sessionLifetime: try line.optional("session_ttl_in_seconds") {
                name throws(ArchiveLineError) in
                try line.number(name, Application.sessionLifetimes)
            })
    }

    static func write(_ archived: ArchivedUser, into writer: inout JSONWriter) {
        let (user, identity) = (archived.user, archived.user.identity)
        writer.object { writer in
            writer.kind(.user)
            writer.member("user_id", identity.userID.text)
            writer.member("standing", user.identityStatus.word)
            writer.member("version", user.identityVersion)
            writer.member("identity_type", identity.kind.rawValue)
            for member in Identity.Member.allCases {
                guard let text = identity[member] else { continue }
                writer.key(member.rawValue)
                writer.string(text)
            }
            if !identity.metadata.isEmpty {
                writer.key("metadata")
                IdentityJSON.write(identity.metadata, into: &writer)
            }
            writer.member("suspended", user.isSuspended)
            writer.member(present: "sessions_ended_at", user.sessionsEndedAt)
            writer.member("external_unread_count", archived.externalUnreadCount)
            writer.member(present: "created_at", archived.createdAt)
        }
    }

    static func user(_ line: ArchiveLineReader) throws(ArchiveLineError) -> ArchivedUser {
        let id = try line.user("user_id")
        guard let status = User.IdentityStatus(word: try line.text("standing")) else {
            throw line.error("standing", "must be unknown, named or told")
        }
        var identity = Identity(userID: id, kind: try line.choice("identity_type"))
        for member in Identity.Member.allCases {
            let name = member.rawValue
            guard let text = try line.optional(name, line.text) else { continue }
            try line.validated(name, "is too long, or empty") { () throws(Rejection) in
                try member.check(text, as: name)
            }
            identity[member] = text
        }
        identity.metadata = try metadata(line)
        return ArchivedUser(
            User(
                identity: identity, identityStatus: status,
                identityVersion: try line.version("version"),
                isSuspended: try line.flag("suspended"),
                sessionsEndedAt: try line.optional("sessions_ended_at", line.moment)),
            externalUnreadCount: try line.number(
                "external_unread_count", Badge.externalUnreadCounts),
            createdAt: try line.optional("created_at", line.moment))
    }

    private static func metadata(_ line: ArchiveLineReader) throws(ArchiveLineError) -> [String:
        String]
    {
        guard let value = line.object.present("metadata") else { return [:] }
        let rule = "must be an object of at most \(Identity.metadataLimit) texts"
        guard value.kind == .object else { throw line.error("metadata", rule) }
        return try line.validated("metadata", rule) { () throws(Rejection) in
            let metadata = try IdentityJSON.metadata(value, at: "metadata", as: "metadata")
            try Identity.check(metadata, as: "metadata")
            return metadata
        }
    }

    static func write(_ archived: ArchivedRelations, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.kind(.relations)
            writer.member("user_id", archived.user.text)
            writer.member(present: "following", archived.followed.map(\.text))
            writer.member(present: "blocked", archived.blocked.map(\.text))
            guard !archived.blockPeriods.isEmpty else { return }
            writer.key("block_periods")
            writer.array { writer in
                for period in archived.blockPeriods {
                    writer.object { writer in
                        writer.member("user_id", period.user.text)
                        writer.member("since", period.since)
                        writer.member(present: "until", period.until)
                    }
                }
            }
        }
    }

    static func relations(_ line: ArchiveLineReader) throws(ArchiveLineError) -> ArchivedRelations {
        let blocked = try line.users("blocked", 10_000_000)
        let periods = try line.objects("block_periods", 10_000_000, blockPeriod)
        let open = periods.filter { period in period.until == nil }.map(\.user)
        guard Set(open).count == open.count, Set(open).isSubset(of: blocked) else {
            throw line.error(
                "block_periods",
                "must have at most one without `until` for each user of `blocked`, and none for others"
            )
        }
        return ArchivedRelations(
            try line.user("user_id"), followed: try line.users("following", 10_000_000),
            blocked: blocked, blockPeriods: periods)
    }

    private static func blockPeriod(
        _ line: ArchiveLineReader
    ) throws(ArchiveLineError) -> ArchivedRelations.BlockPeriod {
        let since = try line.momentOfChange("since")
        let until = try line.optional("until", line.momentOfChange)
        if let until, until <= since {
            throw line.error("until", "must be later than `since`")
        }
        return ArchivedRelations.BlockPeriod(
            try line.user("user_id"), since: since, until: until)
    }
}

extension User.IdentityStatus {
    fileprivate var word: String {
        switch self {
        case .unknown: "unknown"
        case .named: "named"
        case .provided: "told"
        }
    }

    fileprivate init?(word: String) {
        switch word {
        case "unknown": self = .unknown
        case "named": self = .named
        case "told": self = .provided
        default: return nil
        }
    }
}
