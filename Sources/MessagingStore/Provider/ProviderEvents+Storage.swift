import Messaging
import SQL

extension ProviderCreated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(provider.id)
        writer.write(provider.name)
        writer.write(provider.createdAt)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            provider: Provider(
                id: try reader.id(), name: try reader.text(), createdAt: try reader.timestamp()))
    }

    func apply(to rows: Projection) throws {
        try rows.transaction.execute(
            """
            INSERT INTO providers (application, id, name, created_at) VALUES (
                \(rows.application), \(provider.id), \(provider.name), \(provider.createdAt)
            )
            """)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ProviderDeleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(provider)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(provider: try reader.id(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.transaction.execute(
            """
            DELETE FROM providers
            WHERE application = \(rows.application) AND id = \(provider)
            """)
        try rows.transaction.execute(
            """
            UPDATE provider_keys SET deleted_at = \(at)
            WHERE application = \(rows.application) AND provider = \(provider)
                AND deleted_at IS NULL
            """)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ProviderKeyCreated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(key.id)
        writer.write(key.provider)
        writer.write(key.algorithm.rawValue)
        writer.write(key.der)
        writer.write(key.createdAt)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            key: ProviderKey(
                id: try reader.id(), provider: try reader.id(),
                algorithm: try reader.valid(
                    ProviderKey.Algorithm(rawValue: try reader.text()), "algorithm of a key"),
                der: try reader.bytes(), createdAt: try reader.timestamp()))
    }

    func apply(to rows: Projection) throws {
        try rows.transaction.execute(
            """
            INSERT INTO provider_keys (
                application, id, provider, algorithm, der, created_at, is_disabled
            ) VALUES (
                \(rows.application), \(key.id), \(key.provider), \(key.algorithm.rawValue),
                \(key.der), \(key.createdAt), \(key.isDisabled)
            )
            """)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ProviderKeyUpdated: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(key)
        writer.write(isDisabled)
    }

    init(from reader: inout ByteReader) throws {
        self.init(key: try reader.id(), isDisabled: try reader.flag())
    }

    func apply(to rows: Projection) throws {
        try rows.transaction.execute(
            """
            UPDATE provider_keys SET is_disabled = \(isDisabled)
            WHERE application = \(rows.application) AND id = \(key)
            """)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ProviderKeyDeleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(key)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(key: try reader.id(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.transaction.execute(
            """
            UPDATE provider_keys SET deleted_at = \(at)
            WHERE application = \(rows.application) AND id = \(key)
            """)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
