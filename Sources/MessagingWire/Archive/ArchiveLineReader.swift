import Bytes
import JSON
import Messaging

/// Reads the members of an object on a line of an export, and names the one that is wrong.
struct ArchiveLineReader {
    let object: JSONValue
    /// The prefix of member names in errors.
    private let path: String

    init(_ object: JSONValue, _ path: String = "") {
        self.object = object
        self.path = path
    }

    func error(_ name: String, _ rule: String) -> ArchiveLineError {
        ArchiveLineError(path + name, rule)
    }

    private func required(_ name: String) throws(ArchiveLineError) -> JSONValue {
        guard let value = object.present(name) else { throw error(name, "is missing") }
        return value
    }

    /// A member that may be missing.
    func optional<Value>(
        _ name: String, _ read: (String) throws(ArchiveLineError) -> Value
    ) throws(ArchiveLineError) -> Value? {
        object.present(name) == nil ? nil : try read(name)
    }

    func text(_ name: String) throws(ArchiveLineError) -> String {
        guard let text = try required(name).string else { throw error(name, "must be a text") }
        return text
    }

    func flag(_ name: String) throws(ArchiveLineError) -> Bool {
        guard let flag = try required(name).bool else {
            throw error(name, "must be true or false")
        }
        return flag
    }

    /// The range of positions and counters on a line (ruling 25). As a position of the API, which is the
    /// number times 65,536, the largest is below 2^53, and later positions have enough room.
    private static let counters: ClosedRange<Int64> = 0...(1 << 36) - 1

    /// The allowed sizes in bytes, which every JSON reader represents exactly.
    private static let sizes: ClosedRange<Int64> = 0...(1 << 53) - 1

    /// - Parameter range: What it may be.
    func number(
        _ name: String, _ range: ClosedRange<Int64> = counters
    ) throws(ArchiveLineError) -> Int64 {
        guard let number = try required(name).integer, range.contains(number) else {
            throw error(
                name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func position(_ name: String) throws(ArchiveLineError) -> Position {
        Position(try number(name))
    }

    /// A counter that begins at one.
    func version(_ name: String) throws(ArchiveLineError) -> Int64 {
        try number(name, 1...Self.counters.upperBound)
    }

    func size(_ name: String) throws(ArchiveLineError) -> Int64 { try number(name, Self.sizes) }

    func moment(_ name: String) throws(ArchiveLineError) -> Timestamp {
        guard let moment = TimestampJSON.read(try text(name)) else {
            throw error(name, "must be a time such as 2026-03-01T09:15:30.042Z")
        }
        return moment
    }

    /// The moment of a change that later changes have to follow: one millisecond each, if need be, and all
    /// of them times that can be written.
    func momentOfChange(_ name: String) throws(ArchiveLineError) -> Timestamp {
        let moment = try moment(name)
        // 9999-01-01T00:00:00Z.
        guard moment.milliseconds < 253_370_764_800_000 else {
            throw error(
                name, "must be a time before the year 9999, because later changes have later times")
        }
        return moment
    }

    func uuid<Subject>(_ name: String) throws(ArchiveLineError) -> Identifier<Subject> {
        guard let id = Identifier<Subject>(uuid: try text(name)) else {
            throw error(name, "must be a UUID")
        }
        return id
    }

    func user(_ name: String) throws(ArchiveLineError) -> UserID {
        guard let user = UserID(try text(name)) else {
            throw error(name, "must be a user id of 1 to 128 characters other than . and ..")
        }
        return user
    }

    /// Bytes in base64.
    ///
    /// - Parameter counts: How many there may be.
    func bytes(
        _ name: String, _ counts: ClosedRange<Int>
    ) throws(ArchiveLineError) -> [UInt8] {
        guard let bytes = Base64.decode(try text(name)), counts.contains(bytes.count) else {
            let count =
                counts.count == 1
                ? "\(counts.lowerBound)" : "\(counts.lowerBound) to \(counts.upperBound)"
            throw error(name, "must be \(count) bytes in base64")
        }
        return bytes
    }

    /// Positions as `1-500,502`; a missing member is none.
    func positions(_ name: String) throws(ArchiveLineError) -> IntervalSet {
        guard object.present(name) != nil else { return IntervalSet() }
        guard let set = IntervalSet(text: try text(name)),
            set.intervals.last.map({ last in last.upperBound <= Self.counters.upperBound }) ?? true
        else {
            throw error(
                name,
                "must be positions such as 1-500,502 in ascending order, at most \(Self.counters.upperBound)"
            )
        }
        return set
    }

    /// A value with a fixed list of names.
    func choice<Value: RawRepresentable<String>>(_ name: String) throws(ArchiveLineError) -> Value {
        guard let value = Value(rawValue: try text(name)) else {
            throw error(name, "must be one of its words")
        }
        return value
    }

    /// The elements of an array; a missing one has none.
    func list<Value>(
        _ name: String, _ limit: Int, _ read: (JSONValue) throws(ArchiveLineError) -> Value
    ) throws(ArchiveLineError) -> [Value] {
        guard let list = object.present(name) else { return [] }
        guard list.kind == .array, list.count <= limit else {
            throw error(name, "must be an array of at most \(limit)")
        }
        var values: [Value] = []
        for element in list.elements { values.append(try read(element)) }
        return values
    }

    /// The objects of an array.
    func objects<Value>(
        _ name: String, _ limit: Int, _ read: (ArchiveLineReader) throws(ArchiveLineError) -> Value
    ) throws(ArchiveLineError) -> [Value] {
        try list(name, limit) { element throws(ArchiveLineError) in
            guard element.kind == .object else {
                throw error(name, "must be an array of objects")
            }
            return try read(ArchiveLineReader(element, "\(path)\(name)."))
        }
    }

    /// Users, each once.
    func users(_ name: String, _ limit: Int) throws(ArchiveLineError) -> [UserID] {
        let users = try list(name, limit) { element throws(ArchiveLineError) in
            guard let user = element.string.flatMap({ text in UserID(text) }) else {
                throw error(
                    name, "must be an array of user ids of 1 to 128 characters other than . and ..")
            }
            return user
        }
        guard Set(users).count == users.count else { throw error(name, "names a user twice") }
        return users
    }

    func member(_ name: String) throws(ArchiveLineError) -> ArchiveLineReader {
        let value = try required(name)
        guard value.kind == .object else { throw error(name, "must be an object") }
        return ArchiveLineReader(value, "\(path)\(name).")
    }

    /// Runs a validation of the domain and reports its rejection as an error in a member of this line.
    func validated<Value>(
        _ name: String, _ rule: String, _ validate: () throws(Rejection) -> Value
    ) throws(ArchiveLineError) -> Value {
        do throws(Rejection) {
            return try validate()
        } catch {
            throw self.error(name, rule)
        }
    }
}
