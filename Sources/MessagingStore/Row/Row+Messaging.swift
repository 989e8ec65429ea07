import Messaging
import SQL

// How domain values are read back. A value nobody could have written is a fault, never a guess.
extension Row {
    func id<Subject>(_ column: Column) throws -> Identifier<Subject> {
        guard let id = try optionalID(column) as Identifier<Subject>? else {
            throw StoreFault.unreadable("column \(column)")
        }
        return id
    }

    func optionalID<Subject>(_ column: Column) throws -> Identifier<Subject>? {
        guard let bytes = try optionalBlob(column) else { return nil }
        guard let id = Identifier<Subject>(bytes: bytes) else {
            throw StoreFault.unreadable("column \(column)")
        }
        return id
    }

    func user(_ column: Column) throws -> UserID {
        guard let user = try optionalUser(column) else {
            throw StoreFault.unreadable("column \(column)")
        }
        return user
    }

    func optionalUser(_ column: Column) throws -> UserID? {
        guard let text = try optionalText(column) else { return nil }
        guard let user = UserID(kept: text) else { throw StoreFault.unreadable("column \(column)") }
        return user
    }

    func optionalTrace(_ column: Column) throws -> Trace? {
        guard let text = try optionalText(column) else { return nil }
        guard let trace = Trace(text) else { throw StoreFault.unreadable("column \(column)") }
        return trace
    }

    func timestamp(_ column: Column) throws -> Timestamp {
        Timestamp(milliseconds: try int64(column))
    }

    func optionalTimestamp(_ column: Column) throws -> Timestamp? {
        try optionalInt64(column).map(Timestamp.init(milliseconds:))
    }

    func position(_ column: Column) throws -> Position {
        Position(try int64(column))
    }

    func optionalPosition(_ column: Column) throws -> Position? {
        try optionalInt64(column).map(Position.init)
    }

    func intervals(_ column: Column) throws -> IntervalSet {
        guard let set = IntervalSet(text: try text(column)) else {
            throw StoreFault.unreadable("column \(column)")
        }
        return set
    }

    func viewState(_ column: Column) throws -> ViewState {
        guard let state = ViewState(rawValue: try text(column)) else {
            throw StoreFault.unreadable("column \(column)")
        }
        return state
    }

    func metadata(_ column: Column) throws -> Metadata {
        var reader = ByteReader(try blob(column))
        let metadata = try Metadata(from: &reader)
        try reader.finish()
        return metadata
    }
}
