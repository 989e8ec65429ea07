import Messaging

extension Application {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(name)
        writer.write(createdAt)
        writer.write(isSuspended)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), name: try reader.text(), createdAt: try reader.timestamp(),
            isSuspended: try reader.flag())
    }
}

extension Token {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(application)
        writer.write(scope.rawValue)
        writer.write(createdAt)
        writer.write(optional: expiresAt) { writer, moment in writer.write(moment) }
        writer.write(optional: revokedAt) { writer, moment in writer.write(moment) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), application: try reader.id(),
            scope: try reader.legal(Scope(rawValue: try reader.text()), "scope of a token"),
            createdAt: try reader.timestamp(),
            expiresAt: try reader.optional { reader in try reader.timestamp() },
            revokedAt: try reader.optional { reader in try reader.timestamp() })
    }
}

extension BasicIdentity {
    func write(to writer: inout ByteWriter) {
        writer.write(userID)
        writer.write(optional: displayName) { writer, name in writer.write(name) }
        writer.write(optional: avatarURL) { writer, url in writer.write(url) }
        writer.write(kind.rawValue)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            userID: try reader.user(),
            displayName: try reader.optional { reader in try reader.text() },
            avatarURL: try reader.optional { reader in try reader.text() },
            kind: try reader.legal(
                Identity.Kind(rawValue: try reader.text()), "kind of an identity"))
    }
}
