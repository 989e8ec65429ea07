import Messaging

extension Conversation {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(createdAt)
        writer.write(participants)
        writer.write(Int64(participantCount))
        writer.write(isWide)
        writer.write(isDistinct)
        metadata.write(to: &writer)
        writer.write(isAnnounced)
        writer.write(optional: deletedAt) { writer, moment in writer.write(moment) }
        writer.write(lastPosition)
        writer.write(optional: lastSentAt) { writer, moment in writer.write(moment) }
        writer.write(messageCount)
        writer.write(version)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), createdAt: try reader.timestamp(),
            participants: try reader.participants(),
            participantCount: Int(clamping: try reader.number()),
            isWide: try reader.flag(), isDistinct: try reader.flag(),
            metadata: try Metadata(from: &reader), isAnnounced: try reader.flag(),
            deletedAt: try reader.optional { reader in try reader.timestamp() },
            lastPosition: try reader.position(),
            lastSentAt: try reader.optional { reader in try reader.timestamp() },
            messageCount: try reader.number(), version: try reader.number())
    }
}

extension Metadata {
    func write(to writer: inout ByteWriter) {
        writer.write(each: writes) { writer, entry in
            writer.write(each: entry.path) { writer, key in writer.write(key) }
            writer.write(entry.write.at)
            switch entry.write.value {
            case .deleted: writer.write(Int64(0))
            case .object: writer.write(Int64(1))
            case .text(let text):
                writer.write(Int64(2))
                writer.write(text)
            }
        }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            writes: try reader.each { reader in
                let path = try reader.each { reader in try reader.text() }
                let moment = try reader.timestamp()
                let value: MetadataWrite.Value =
                    switch try reader.number() {
                    case 0: .deleted
                    case 1: .object
                    case 2: .text(try reader.text())
                    case let other: throw StoreFault.unreadable("metadata write \(other)")
                    }
                return (path, MetadataWrite(value, at: moment))
            })
    }

    /// All writes, encoded for a column.
    var columnBytes: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.bytes
    }
}

extension MergeableView {
    func write(to writer: inout ByteWriter) {
        writer.write(state.rawValue)
        writer.write(clearedTo)
        for set in [hidden, receipts.delivered, receipts.read] { writer.write(set.text) }
    }

    init(from reader: inout ByteReader) throws {
        let state = try reader.valid(ViewState(rawValue: try reader.text()), "state of a view")
        let clearedTo = try reader.position()
        let sets = try (0..<3).map { _ in
            try reader.valid(IntervalSet(text: try reader.text()), "positions of a view")
        }
        self.init(
            state: state, clearedTo: clearedTo, hidden: sets[0],
            receipts: Receipts(delivered: sets[1], read: sets[2]))
    }
}
