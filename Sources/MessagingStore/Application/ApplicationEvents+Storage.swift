import Messaging

extension ApplicationCreated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        application.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws {
        self.init(application: try Application(from: &reader))
    }

    func apply(to rows: Projection) throws {
        try rows.create(application)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ApplicationRenamed: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(application)
        writer.write(name)
    }

    init(from reader: inout ByteReader) throws {
        self.init(application: try reader.id(), name: try reader.text())
    }

    func apply(to rows: Projection) throws {
        try rows.rename(application, name)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ApplicationSuspended: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(application)
        writer.write(isSuspended)
    }

    init(from reader: inout ByteReader) throws {
        self.init(application: try reader.id(), isSuspended: try reader.flag())
    }

    func apply(to rows: Projection) throws {
        try rows.suspend(application, isSuspended)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension TokenCreated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        token.write(to: &writer)
        writer.write(digest)
    }

    init(from reader: inout ByteReader) throws {
        self.init(token: try Token(from: &reader), digest: try reader.bytes())
    }

    func apply(to rows: Projection) throws {
        try rows.create(token, digest)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension TokenRevoked: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(token)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(token: try reader.id(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.revoke(token, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension SessionLifetimeSet: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(seconds)
    }

    init(from reader: inout ByteReader) throws {
        self.init(seconds: try reader.number())
    }

    func apply(to rows: Projection) throws {
        try rows.setSessionLifetime(seconds)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
