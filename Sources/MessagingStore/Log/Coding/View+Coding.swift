import Messaging

extension ConversationShown {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(each: users) { writer, user in writer.write(user) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), users: try reader.each { reader in try reader.user() },
            at: try reader.timestamp())
    }
}

extension ConversationHidden {
    func write(to writer: inout ByteWriter) {
        writer.write(conversation)
        writer.write(user)
        writer.write(optional: upTo) { writer, place in writer.write(place) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            conversation: try reader.id(), user: try reader.user(),
            upTo: try reader.optional { reader in try reader.position() },
            at: try reader.timestamp())
    }
}

extension MessageHidden {
    func write(to writer: inout ByteWriter) {
        writer.write(message)
        writer.write(conversation)
        writer.write(position)
        writer.write(user)
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try reader.id(), conversation: try reader.id(),
            position: try reader.position(), user: try reader.user(), at: try reader.timestamp())
    }
}
