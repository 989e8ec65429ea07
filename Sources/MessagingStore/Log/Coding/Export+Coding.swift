import Messaging

extension Export {
    /// Writes an export as asked for; what became of it is told by later events.
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(optional: period) { writer, period in
            writer.write(period.after.number)
            writer.write(period.through.number)
            writer.write(period.topics)
        }
        writer.write(publicKey)
        writer.write(createdAt)
    }

    init(from reader: inout ByteReader) throws {
        let id: ID = try reader.id()
        let period = try reader.optional { reader in
            Period(
                after: LogPosition(try reader.number()),
                through: LogPosition(try reader.number()), topics: try reader.topics())
        }
        self.init(
            id: id, scope: period.map(Scope.scheduled) ?? .historical,
            publicKey: try reader.bytes(), createdAt: try reader.timestamp())
    }

    /// The stretch of the log it tells of; `nil` for a historical one.
    var period: Period? {
        switch scope {
        case .historical: nil
        case .scheduled(let period): period
        }
    }
}

extension Export.Archive {
    func write(to writer: inout ByteWriter) {
        writer.write(size)
        writer.write(sha256)
        writer.write(Int64(crc32c))
        writer.write(encryptedKey)
        writer.write(initialVector)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            size: try reader.number(), sha256: try reader.bytes(),
            crc32c: try reader.legal(UInt32(exactly: try reader.number()), "CRC-32C"),
            encryptedKey: try reader.bytes(), initialVector: try reader.bytes())
    }
}

extension ExportSchedule {
    func write(to writer: inout ByteWriter) {
        writer.write(interval.rawValue)
        writer.write(topics)
        writer.write(place.number)
        writer.write(optional: nextAt) { writer, moment in writer.write(moment) }
        writer.write(optional: lastAt) { writer, moment in writer.write(moment) }
        writer.write(optional: last) { writer, id in writer.write(id) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            interval: try reader.legal(
                Interval(rawValue: try reader.text()), "interval of a schedule"),
            topics: try reader.topics(), place: LogPosition(try reader.number()),
            nextAt: try reader.optional { reader in try reader.timestamp() },
            lastAt: try reader.optional { reader in try reader.timestamp() },
            last: try reader.optional { reader in try reader.id() })
    }
}

extension ByteWriter {
    mutating func write(_ topics: [Topic]) {
        write(each: topics) { writer, topic in writer.write(topic.rawValue) }
    }
}

extension ByteReader {
    mutating func topics() throws -> [Topic] {
        try each { reader in
            try reader.legal(Topic(rawValue: try reader.text()), "topic of an event")
        }
    }
}
