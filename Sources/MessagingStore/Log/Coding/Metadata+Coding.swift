import Messaging

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

    /// The writes as one column holds them.
    var columnBytes: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.bytes
    }
}
