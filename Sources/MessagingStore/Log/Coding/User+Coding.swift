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
