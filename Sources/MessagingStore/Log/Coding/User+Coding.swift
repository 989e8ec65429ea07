import Messaging

extension Identity {
    func write(to writer: inout ByteWriter) {
        writer.write(userID)
        writer.write(kind.rawValue)
        writer.write(each: Member.allCases.filter { member in self[member] != nil }) {
            writer, member in
            writer.write(member.rawValue)
            writer.write(self[member] ?? "")
        }
        writer.write(metadata)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            userID: try reader.user(),
            kind: try reader.valid(Kind(rawValue: try reader.text()), "kind of an identity"))
        let texts = try reader.each { reader in
            (
                try reader.valid(Member(rawValue: try reader.text()), "member of an identity"),
                try reader.text()
            )
        }
        for (member, text) in texts { self[member] = text }
        metadata = try reader.texts()
    }
}

extension ByteWriter {
    /// Writes pairs of key and text, sorted by key.
    mutating func write(_ texts: [String: String]) {
        let sorted = texts.sorted { left, right in left.key < right.key }
        write(each: sorted) { writer, entry in
            writer.write(entry.key)
            writer.write(entry.value)
        }
    }
}

extension ByteReader {
    mutating func texts() throws -> [String: String] {
        let entries = try each { reader in (try reader.text(), try reader.text()) }
        return Dictionary(entries) { _, last in last }
    }
}
