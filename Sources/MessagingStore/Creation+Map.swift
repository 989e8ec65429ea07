extension Creation {
    /// The same outcome about another form of the object.
    func map<Other: Sendable>(
        _ transform: (Object) throws -> Other
    ) rethrows -> Creation<Other> {
        switch self {
        case .created(let object): .created(try transform(object))
        case .matched(let object): .matched(try transform(object))
        case .replayed(let object): .replayed(try transform(object))
        case .conflict(let object): .conflict(try transform(object))
        case .idInUse(let object): .idInUse(try transform(object))
        }
    }
}
