import Messaging

extension Conversation {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(createdAt)
        writer.write(participants)
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
            participants: try reader.participants(), isDistinct: try reader.flag(),
            metadata: try Metadata(from: &reader), isAnnounced: try reader.flag(),
            deletedAt: try reader.optional { reader in try reader.timestamp() },
            lastPosition: try reader.position(),
            lastSentAt: try reader.optional { reader in try reader.timestamp() },
            messageCount: try reader.number(), version: try reader.number())
    }
}
