import Messaging
import MessagingWire

// What filters are made of (X9).
extension Query {
    func truth(_ name: String) throws(Rejection) -> Bool? {
        switch self[name] {
        case nil: nil
        case "true": true
        case "false": false
        default: throw .invalid(name, .truth)
        }
    }

    func time(_ name: String) throws(Rejection) -> Timestamp? {
        guard let text = self[name] else { return nil }
        guard let time = TimestampJSON.read(text) else { throw .invalid(name, .time) }
        return time
    }

    func user(_ name: String, _ version: APIVersion) throws(Rejection) -> UserID? {
        guard let text = self[name] else { return nil }
        guard let user = UserIDJSON.read(query: text, version) else {
            throw .invalid(name, .userFilter)
        }
        return user
    }

    /// The event after which an object is shown as it was; `nil` for as it is now (rulings 27).
    ///
    /// - Throws: `invalid("as_of")` unless it is a number of digits alone.
    func asOf() throws(Rejection) -> LogPosition? {
        guard let text = self["as_of"] else { return nil }
        guard let number = EventQuery.number(text) else { throw .invalid("as_of", .logPosition) }
        return LogPosition(number)
    }
}
