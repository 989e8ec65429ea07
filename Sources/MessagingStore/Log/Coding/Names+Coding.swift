import Messaging

// The small values all payloads are made of.
extension ByteWriter {
    mutating func write<Subject>(_ id: Identifier<Subject>) { write(id.bytes) }

    mutating func write(_ user: UserID) { write(user.text) }

    mutating func write(_ moment: Timestamp) { write(moment.milliseconds) }

    mutating func write(_ place: Position) { write(place.number) }

    mutating func write(_ participants: Participants) {
        write(each: participants.users) { writer, user in writer.write(user) }
    }
}

extension ByteReader {
    mutating func id<Subject>() throws(StoreFault) -> Identifier<Subject> {
        try legal(Identifier<Subject>(bytes: try bytes()), "identifier in payload")
    }

    mutating func user() throws(StoreFault) -> UserID {
        try legal(UserID(kept: try text()), "user in payload")
    }

    mutating func timestamp() throws(StoreFault) -> Timestamp {
        Timestamp(milliseconds: try number())
    }

    mutating func position() throws(StoreFault) -> Position {
        Position(try number())
    }

    mutating func participants() throws -> Participants {
        Participants(try each { reader in try reader.user() })
    }
}
