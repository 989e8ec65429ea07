import Messaging

extension Content {
    func write(to writer: inout ByteWriter) {
        writer.write(id)
        writer.write(optional: conversation) { writer, id in writer.write(id) }
        writer.write(mimeType)
        writer.write(size)
        writer.write(optional: fileName) { writer, name in writer.write(name) }
        writer.write(sha256)
        writer.write(Int64(crc32c))
        writer.write(optional: md5) { writer, digest in writer.write(digest) }
        writer.write(completedAt)
        writer.write(optional: origin) { writer, origin in writer.write(origin) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            id: try reader.id(), conversation: try reader.optional { reader in try reader.id() },
            mimeType: try reader.text(), size: try reader.number(),
            fileName: try reader.optional { reader in try reader.text() },
            sha256: try reader.bytes(),
            crc32c: try reader.legal(UInt32(exactly: try reader.number()), "CRC-32C"),
            md5: try reader.optional { reader in try reader.bytes() },
            completedAt: try reader.timestamp(),
            origin: try reader.optional { reader in try reader.text() })
    }
}
