import Messaging
import SQL

// How domain values are bound. Interpolations of this room and not conformances: those of imported
// types to imported protocols would be seen by everybody.
extension SQL.StringInterpolation {
    mutating func appendInterpolation<Subject>(_ id: Identifier<Subject>) {
        appendInterpolation(id.bytes)
    }

    mutating func appendInterpolation<Subject>(_ id: Identifier<Subject>?) {
        appendInterpolation(id?.bytes)
    }

    mutating func appendInterpolation(_ user: UserID) {
        appendInterpolation(user.text)
    }

    mutating func appendInterpolation(_ user: UserID?) {
        appendInterpolation(user?.text)
    }

    mutating func appendInterpolation(_ moment: Timestamp) {
        appendInterpolation(moment.milliseconds)
    }

    mutating func appendInterpolation(_ moment: Timestamp?) {
        appendInterpolation(moment?.milliseconds)
    }

    mutating func appendInterpolation(_ place: Position) {
        appendInterpolation(place.number)
    }

    mutating func appendInterpolation(_ place: Position?) {
        appendInterpolation(place?.number)
    }

    mutating func appendInterpolation(_ place: LogPosition) {
        appendInterpolation(place.number)
    }

    /// Several rows of values, all as long, to stand behind `VALUES`; see `powers(upTo:)`.
    mutating func appendInterpolation(rows: [[SQLValue]]) {
        for (index, row) in rows.enumerated() {
            appendLiteral(index > 0 ? ", (" : "(")
            appendInterpolation(list: row)
            appendLiteral(")")
        }
    }

    /// A list for `IN`, filled up to a power of two by repeating its last value.
    ///
    /// So statements have a dozen texts, and their prepared forms are found again.
    mutating func appendInterpolation(few values: [some SQLConvertible]) {
        guard let last = values.last else { return appendInterpolation(list: values) }
        var length = 1
        while length < values.count { length *= 2 }
        let filling = Array(repeating: last, count: length - values.count)
        appendInterpolation(list: values + filling)
    }
}
