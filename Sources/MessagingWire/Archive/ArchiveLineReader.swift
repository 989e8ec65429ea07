import Bytes
import JSON
import Messaging

/// Reads the members of an object on a line of an export; errors name the invalid member.
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

    /// Reads a member that may be missing.
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

    /// The range of positions and counters on a line (ruling 25). The API shows a position times 65,536: even the
    /// largest is then below 2^53, with enough numbers left for later positions.
    private static let counters: ClosedRange<Int64> = 0...(1 << 36) - 1

    /// The range of sizes in bytes; every JSON reader represents these numbers exactly.
    private static let sizes: ClosedRange<Int64> = 0...(1 << 53) - 1

    /// - Parameter range: The allowed numbers.
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

    /// Reads a counter that begins at 1.
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

    /// Reads the time of a change, before the year 9999. Every later change gets a later time, if necessary by one
    /// millisecond, and all of these times must have a year of four digits.
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
            throw error(
                name, "must be a user id of 1 to 128 characters without U+0000, other than . and .."
            )
        }
        return user
    }

    /// Reads bytes in base64.
    ///
    /// - Parameter counts: The allowed numbers of bytes.
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

    /// Reads positions such as `1-500,502`; a missing member means none.
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

    /// Reads a value of an enumeration by its raw value.
    func choice<Value: RawRepresentable<String>>(_ name: String) throws(ArchiveLineError) -> Value {
        guard let value = Value(rawValue: try text(name)) else {
            throw error(name, "has a value that this release does not know")
        }
        return value
    }

    /// Reads the elements of an array; a missing member means none.
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

    /// Reads the objects of an array; a missing member means none.
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

    /// Reads an array of distinct users; a missing member means none.
    func users(_ name: String, _ limit: Int) throws(ArchiveLineError) -> [UserID] {
        let users = try list(name, limit) { element throws(ArchiveLineError) in
            guard let user = element.string.flatMap({ text in UserID(text) }) else {
                throw error(
                    name,
                    "must be an array of user ids of 1 to 128 characters without U+0000, other than . and .."
                )
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
