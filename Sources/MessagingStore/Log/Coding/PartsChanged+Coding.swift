import Messaging

extension PartsChanged {
    func write(to writer: inout ByteWriter) {
        writer.write(message)
        writer.write(conversation)
        writer.write(each: created) { writer, part in part.write(to: &writer) }
        writer.write(each: updated) { writer, part in part.write(to: &writer) }
        writer.write(each: removed) { writer, part in
            writer.write(part.id)
            writer.write(Int64(part.index))
        }
        writer.write(optional: order) { writer, order in
            writer.write(each: order) { writer, index in writer.write(Int64(index)) }
        }
        writer.write(Int64(made))
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try reader.id(), conversation: try reader.id(),
            created: try reader.each { reader in try MessagePart(from: &reader) },
            updated: try reader.each { reader in try MessagePart(from: &reader) },
            removed: try reader.each { reader in
                Removed(id: try reader.id(), index: Int(try reader.number()))
            },
            order: try reader.optional { reader in
                try reader.each { reader in Int(try reader.number()) }
            },
            made: Int(try reader.number()), at: try reader.timestamp())
    }
}
