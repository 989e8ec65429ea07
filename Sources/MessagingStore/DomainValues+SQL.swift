internal import Bytes
import Messaging
import SQL

// Binds domain values to statements. These are interpolations and not conformances, because a conformance of an
// imported type to an imported protocol would be visible in other modules.
extension SQLValueInterpolation {
    mutating func appendInterpolation<Subject>(_ id: Identifier<Subject>) {
        append(.blob(id.bytes))
    }

    mutating func appendInterpolation<Subject>(_ id: Identifier<Subject>?) {
        append(id.map { id in .blob(id.bytes) } ?? .null)
    }

    mutating func appendInterpolation(_ user: UserID) {
        append(.text(user.text))
    }

    mutating func appendInterpolation(_ user: UserID?) {
        append(user.map { user in .text(user.text) } ?? .null)
    }

    mutating func appendInterpolation(_ moment: Timestamp) {
        append(.integer(moment.milliseconds))
    }

    mutating func appendInterpolation(_ moment: Timestamp?) {
        append(moment.map { moment in .integer(moment.milliseconds) } ?? .null)
    }

    mutating func appendInterpolation(_ position: Position) {
        append(.integer(position.number))
    }

    mutating func appendInterpolation(_ position: Position?) {
        append(position.map { position in .integer(position.number) } ?? .null)
    }

    mutating func appendInterpolation(_ position: LogPosition) {
        append(.integer(position.number))
    }

    mutating func appendInterpolation(_ position: LogPosition?) {
        append(position.map { position in .integer(position.number) } ?? .null)
    }
}

extension SQL.StringInterpolation {
    mutating func appendInterpolation<Subject>(in ids: some Sequence<Identifier<Subject>>) {
        // Not `\.bytes`: the key path of a generic type is created for each query.
        appendInterpolation(in: .blobs(ids.map { id in id.bytes }))
    }

    mutating func appendInterpolation(in users: some Sequence<UserID>) {
        appendInterpolation(in: .texts(users.map(\.text)))
    }

    mutating func appendInterpolation(notIn users: some Sequence<UserID>) {
        appendInterpolation(notIn: .texts(users.map(\.text)))
    }
}

// Reads domain values from rows. A value that this release cannot have written is a fault.
extension Row {
    func id<Subject>(_ column: Column) throws -> Identifier<Subject> {
        guard let id = try optionalID(column) as Identifier<Subject>? else {
            throw StoreFault.unreadable("column \(column)")
        }
        return id
    }

    func optionalID<Subject>(_ column: Column) throws -> Identifier<Subject>? {
        if let (high, low) = try sixteenBytes(column) { return Identifier(high: high, low: low) }
        guard try isNull(column) else { throw StoreFault.unreadable("column \(column)") }
        return nil
    }

    func user(_ column: Column) throws -> UserID {
        guard let user = try optionalUser(column) else {
            throw StoreFault.unreadable("column \(column)")
        }
        return user
    }

    func optionalUser(_ column: Column) throws -> UserID? {
        guard let text = try optionalText(column) else { return nil }
        guard let user = UserID(stored: text) else {
            throw StoreFault.unreadable("column \(column)")
        }
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

extension Position {
    /// The eight bytes of the number, for keys of cached rows.
    var bytes: [UInt8] { number.bigEndianBytes }
}

// A trace is stored as text, so that an operator can search for its id.
extension Trace {
    /// The id and the flags, as in `0af7651916cd43dd8448eb211c80319c-01`.
    var text: String { "\(id)-0\(flags)" }

    /// Parses the text; `nil` if it has another form.
    init?(_ text: String) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, parts[0].utf8.count == 32, let flags = UInt8(parts[1]) else {
            return nil
        }
        self.init(id: String(parts[0]), flags: flags)
    }
}
