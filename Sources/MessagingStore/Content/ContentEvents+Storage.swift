import Messaging

extension ContentUploaded: StoredEvent {
    func write(to writer: inout ByteWriter) {
        content.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws {
        self.init(content: try Content(from: &reader))
    }

    func apply(to rows: Projection) throws {
        try rows.insert(content)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ContentOwned: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(content)
        writer.write(owner)
    }

    init(from reader: inout ByteReader) throws {
        self.init(content: try reader.id(), owner: try reader.user())
    }

    func apply(to rows: Projection) throws {
        try rows.own(content, owner)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ContentWithdrawn: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(content)
    }

    init(from reader: inout ByteReader) throws {
        self.init(content: try reader.id())
    }

    func apply(to rows: Projection) throws {
        try rows.dropUnlessUsed(content)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ContentsErased: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(each: contents) { writer, id in writer.write(id) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(contents: try reader.each { reader in try reader.id() })
    }

    func apply(to rows: Projection) throws {
        try rows.erase(contents)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
