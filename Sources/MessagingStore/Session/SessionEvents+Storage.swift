import Messaging
import SQL

extension SessionCreated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(session.id)
        writer.write(session.user)
        writer.write(session.createdAt)
        writer.write(session.expiresAt)
        writer.write(session.lastUsedAt)
        writer.write(optional: session.userAgent) { writer, text in writer.write(text) }
        writer.write(digest)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            session: Session(
                id: try reader.id(), user: try reader.user(), createdAt: try reader.timestamp(),
                expiresAt: try reader.timestamp(), lastUsedAt: try reader.timestamp(),
                userAgent: try reader.optional { reader in try reader.text() }),
            digest: try reader.bytes())
    }

    func apply(to rows: Projection) throws {
        try rows.create(session, digest)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension SessionEnded: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(session)
        writer.write(user)
    }

    init(from reader: inout ByteReader) throws {
        self.init(session: try reader.id(), user: try reader.user())
    }

    func apply(to rows: Projection) throws {
        try rows.transaction.execute(
            """
            DELETE FROM sessions WHERE application = \(rows.application) AND id = \(session)
            """)
        try rows.removeDevices(of: session)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension Projection {
    /// Stores a session, creates its user with an identity if necessary, and deletes the user's expired sessions.
    fileprivate func create(_ session: Session, _ digest: [UInt8]) throws {
        try createNamedUser(session.user)
        try transaction.execute(
            """
            DELETE FROM sessions
            WHERE application = \(application) AND user_id = \(session.user)
                AND expires_at <= \(session.createdAt)
            """)
        try transaction.execute(
            """
            INSERT INTO sessions (
                application, id, user_id, created_at, expires_at, last_used_at, user_agent, digest
            ) VALUES (
                \(application), \(session.id), \(session.user), \(session.createdAt),
                \(session.expiresAt), \(session.lastUsedAt), \(session.userAgent), \(digest)
            )
            """)
    }
}
