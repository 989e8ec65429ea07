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

extension Content {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(optional: conversation) { writer, id in writer.write(id) }
        writer.write(mimeType)
        writer.write(size)
        writer.write(optional: fileName) { writer, name in writer.write(name) }
        writer.write(sha256)
        writer.write(Int64(crc32c))
        writer.write(OptionalDigests(md5: md5, sha512: sha512))
        writer.write(completedAt)
        writer.write(optional: origin) { writer, origin in writer.write(origin) }
    }

    init(from reader: inout ByteReader) throws {
        let id: ID = try reader.id()
        let conversation: Conversation.ID? = try reader.optional { reader in try reader.id() }
        let (mimeType, size) = (try reader.text(), try reader.number())
        let fileName = try reader.optional { reader in try reader.text() }
        let sha256 = try reader.bytes()
        let crc32c = try reader.valid(UInt32(exactly: try reader.number()), "CRC-32C")
        let digests = try reader.digests()
        self.init(
            id: id, conversation: conversation, mimeType: mimeType, size: size,
            fileName: fileName, sha256: sha256, crc32c: crc32c, md5: digests.md5,
            sha512: digests.sha512, completedAt: try reader.timestamp(),
            origin: try reader.optional { reader in try reader.text() })
    }
}

/// The optional digests of a content, encoded as a byte of flags for those that exist, and then these digests.
private struct OptionalDigests {
    static let hasMD5: UInt8 = 1
    static let hasSHA512: UInt8 = 2

    var md5: [UInt8]?
    var sha512: [UInt8]?
}

extension ByteWriter {
    fileprivate mutating func write(_ digests: OptionalDigests) {
        write(
            byte: (digests.md5 == nil ? 0 : OptionalDigests.hasMD5)
                | (digests.sha512 == nil ? 0 : OptionalDigests.hasSHA512))
        if let md5 = digests.md5 { write(md5) }
        if let sha512 = digests.sha512 { write(sha512) }
    }
}

extension ByteReader {
    fileprivate mutating func digests() throws(StoreFault) -> OptionalDigests {
        let which = try byte()
        guard which & ~(OptionalDigests.hasMD5 | OptionalDigests.hasSHA512) == 0 else {
            throw .unreadable("digests in payload are \(which)")
        }
        var digests = OptionalDigests()
        if which & OptionalDigests.hasMD5 != 0 { digests.md5 = try bytes() }
        if which & OptionalDigests.hasSHA512 != 0 { digests.sha512 = try bytes() }
        return digests
    }
}
