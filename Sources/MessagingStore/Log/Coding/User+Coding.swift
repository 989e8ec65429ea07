import Messaging

extension BlocksChanged {
    func write(to writer: inout ByteWriter) {
        writer.write(owner)
        writer.write(each: added) { writer, user in writer.write(user) }
        writer.write(each: removed) { writer, user in writer.write(user) }
        writer.write(at)
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            owner: try reader.user(), added: try reader.each { reader in try reader.user() },
            removed: try reader.each { reader in try reader.user() }, at: try reader.timestamp())
    }
}

extension FollowingChanged {
    func write(to writer: inout ByteWriter) {
        writer.write(follower)
        writer.write(each: added) { writer, user in writer.write(user) }
        writer.write(each: removed) { writer, user in writer.write(user) }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            follower: try reader.user(), added: try reader.each { reader in try reader.user() },
            removed: try reader.each { reader in try reader.user() })
    }
}

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
            kind: try reader.legal(Kind(rawValue: try reader.text()), "kind of an identity"))
        let texts = try reader.each { reader in
            (
                try reader.legal(Member(rawValue: try reader.text()), "member of an identity"),
                try reader.text()
            )
        }
        for (member, text) in texts { self[member] = text }
        metadata = try reader.texts()
    }
}

extension IdentityPatched {
    func write(to writer: inout ByteWriter) {
        writer.write(user)
        writer.write(each: patches) { writer, patch in
            switch patch {
            case .set(let member, let text):
                writer.write(Int64(0))
                writer.write(member.rawValue)
                writer.write(text)
            case .setKind(let kind):
                writer.write(Int64(1))
                writer.write(kind.rawValue)
            case .setMetadata(let metadata):
                writer.write(Int64(2))
                writer.write(metadata)
            case .setMetadataKey(let key, let text):
                writer.write(Int64(3))
                writer.write(key)
                writer.write(text)
            case .deleteMetadataKey(let key):
                writer.write(Int64(4))
                writer.write(key)
            }
        }
    }

    init(from reader: inout ByteReader) throws {
        self.init(
            user: try reader.user(),
            patches: try reader.each { reader in
                switch try reader.number() {
                case 0:
                    .set(
                        try reader.legal(
                            Identity.Member(rawValue: try reader.text()), "member of an identity"),
                        try reader.text())
                case 1:
                    .setKind(
                        try reader.legal(
                            Identity.Kind(rawValue: try reader.text()), "kind of an identity"))
                case 2: .setMetadata(try reader.texts())
                case 3: .setMetadataKey(try reader.text(), try reader.text())
                case 4: .deleteMetadataKey(try reader.text())
                case let other: throw StoreFault.unreadable("patch \(other) of an identity")
                }
            })
    }
}

extension ByteWriter {
    /// Texts behind their keys, in the order of the keys.
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
