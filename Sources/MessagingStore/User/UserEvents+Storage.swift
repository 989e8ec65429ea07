import Messaging

extension IdentityReplaced: StoredEvent {
    func write(to writer: inout ByteWriter) {
        identity.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws {
        self.init(identity: try Identity(from: &reader))
    }

    func apply(to rows: Projection) throws {
        try rows.provide(identity)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.user(identity.userID, application)]
    }
}

extension IdentityPatched: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(user)
        writer.write(each: patches) { writer, patch in
            switch patch {
            case .set(let member, let text):
                writer.write(Int64(0))
                writer.write(member.rawValue)
                writer.write(text)
            case .setKind(let kind):
                writer.write(Int64(1))
                writer.write(kind.rawValue)
            case .setMetadata(let metadata):
                writer.write(Int64(2))
                writer.write(metadata)
            case .setMetadataKey(let key, let text):
                writer.write(Int64(3))
                writer.write(key)
                writer.write(text)
            case .deleteMetadataKey(let key):
                writer.write(Int64(4))
                writer.write(key)
            }
        }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            user: try reader.user(),
            patches: try reader.each { reader in
                switch try reader.number() {
                case 0:
                    .set(
                        try reader.valid(
                            Identity.Member(rawValue: try reader.text()), "member of an identity"),
                        try reader.text())
                case 1:
                    .setKind(
                        try reader.valid(
                            Identity.Kind(rawValue: try reader.text()), "kind of an identity"))
                case 2: .setMetadata(try reader.texts())
                case 3: .setMetadataKey(try reader.text(), try reader.text())
                case 4: .deleteMetadataKey(try reader.text())
                case let other: throw StoreFault.unreadable("patch \(other) of an identity")
                }
            })
    }

    func apply(to rows: Projection) throws {
        try rows.apply(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.user(user, application)]
    }

    func object(at position: LogPosition, _ history: inout ObjectHistory) throws
        -> ResolvedEvent.Object
    {
        let found = try history.user(user, at: position)
        return found.isKnown ? .identity(found.identity) : .none
    }
}

extension IdentityDeleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(user)
    }

    init(from reader: inout ByteReader) throws {
        self.init(user: try reader.user())
    }

    func apply(to rows: Projection) throws {
        try rows.deleteIdentity(of: user)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.user(user, application)]
    }
}

extension FollowingChanged: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(follower)
        writer.write(each: added) { writer, user in writer.write(user) }
        writer.write(each: removed) { writer, user in writer.write(user) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            follower: try reader.user(), added: try reader.each { reader in try reader.user() },
            removed: try reader.each { reader in try reader.user() })
    }

    func apply(to rows: Projection) throws {
        try rows.apply(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension BlocksChanged: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(owner)
        writer.write(each: added) { writer, user in writer.write(user) }
        writer.write(each: removed) { writer, user in writer.write(user) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            owner: try reader.user(), added: try reader.each { reader in try reader.user() },
            removed: try reader.each { reader in try reader.user() }, at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.apply(self)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension BadgeSet: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(user)
        writer.write(externalUnreadCount)
    }

    init(from reader: inout ByteReader) throws {
        self.init(user: try reader.user(), externalUnreadCount: try reader.number())
    }

    func apply(to rows: Projection) throws {
        try rows.setBadge(of: user, to: externalUnreadCount)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension UserSuspended: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(user)
        writer.write(isSuspended)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            user: try reader.user(), isSuspended: try reader.flag(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.suspend(user, isSuspended, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] {
        [.user(user, application)]
    }
}

extension SessionsEnded: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(user)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(user: try reader.user(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.endSessions(of: user, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
