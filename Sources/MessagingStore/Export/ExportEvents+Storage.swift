import Messaging

extension ExportKeyChanged: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(key.pem)
        writer.write(key.der)
    }

    init(from reader: inout ByteReader) throws {
        self.init(key: ExportKey(pem: try reader.text(), der: try reader.bytes()))
    }

    func apply(to rows: Projection) throws {
        try rows.setExportKey(key)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ExportScheduleChanged: StoredEvent {
    func write(to writer: inout ByteWriter) {
        schedule.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws {
        self.init(schedule: try ExportSchedule(from: &reader))
    }

    func apply(to rows: Projection) throws {
        try rows.setExportSchedule(schedule)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ExportRequested: StoredEvent {
    func write(to writer: inout ByteWriter) {
        export.write(to: &writer)
        writer.write(optional: schedule) { writer, schedule in schedule.write(to: &writer) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            export: try Export(from: &reader),
            schedule: try reader.optional { reader in try ExportSchedule(from: &reader) })
    }

    func apply(to rows: Projection) throws {
        try rows.request(export, schedule)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ExportStarted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(export)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(export: try reader.id(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.start(export, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ExportCompleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(export)
        archive.write(to: &writer)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            export: try reader.id(), archive: try Export.Archive(from: &reader),
            at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.complete(export, archive, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ExportDeleted: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(export)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(export: try reader.id(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.delete(export, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ExportExpired: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(export)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(export: try reader.id(), at: try reader.timestamp())
    }

    func apply(to rows: Projection) throws {
        try rows.expire(export, at: at)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}

extension ExportErased: StoredEvent {
    func write(to writer: inout ByteWriter) {
        writer.write(export)
    }

    init(from reader: inout ByteReader) throws {
        self.init(export: try reader.id())
    }

    func apply(to rows: Projection) throws {
        try rows.erase(export)
    }

    func invalidated(in application: Application.ID) -> [InvalidationSubject] { [] }
}
