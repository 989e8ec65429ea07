import Messaging

extension Message {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(conversation)
        writer.write(position)
        sender.write(to: &writer)
        writer.write(sentAt)
        writer.write(each: parts) { writer, part in part.write(to: &writer) }
        writer.write(optional: updatedAt) { writer, moment in writer.write(moment) }
        writer.write(version)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), conversation: try reader.id(), position: try reader.position(),
            sender: try Sender(from: &reader),
            sentAt: try reader.timestamp(),
            parts: try reader.each { reader in try MessagePart(from: &reader) },
            updatedAt: try reader.optional { reader in try reader.timestamp() },
            version: try reader.number())
    }
}

extension Sender {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .user(let user):
            writer.write(true)
            writer.write(user)
        case .named(let name):
            writer.write(false)
            writer.write(name)
        }
    }

    init(from reader: inout ByteReader) throws {
        self = try reader.flag() ? .user(try reader.user()) : .named(try reader.text())
    }
}

extension MessagePart {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(Int64(index))
        writer.write(mimeType)
        body.write(to: &writer)
        writer.write(optional: updatedAt) { writer, moment in writer.write(moment) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), index: Int(try reader.number()), mimeType: try reader.text(),
            body: try Body(from: &reader),
            updatedAt: try reader.optional { reader in try reader.timestamp() })
    }
}

extension MessagePart.Body {
    func write(to writer: inout ByteWriter) {
        switch self {
        case .inline(let bytes):
            writer.write(true)
            writer.write(bytes)
        case .content(let content, let size):
            writer.write(false)
            writer.write(content)
            writer.write(size)
        }
    }

    init(from reader: inout ByteReader) throws {
        self =
            try reader.flag()
            ? .inline(try reader.bytes()) : .content(try reader.id(), size: try reader.number())
    }
}

extension MessageRemoved {
    func write(to writer: inout ByteWriter) {
        message.write(to: &writer)
        writer.write(each: recipients) { writer, recipient in
            writer.write(recipient.user)
            writer.write(recipient.status.rawValue)
        }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            message: try Message(from: &reader),
            recipients: try reader.each { reader in
                Recipient(
                    user: try reader.user(),
                    status: try reader.legal(
                        RecipientStatus(rawValue: try reader.text()), "status of a recipient"))
            }, at: try reader.timestamp())
    }
}
