/// What became of a creation (platform-api 1.9 and 5.1.1).
public enum CreationOutcome<Object: Sendable>: Sendable {
    /// The object is new.
    case created(Object)
    /// A distinct conversation of these participants existed and serves (R7).
    case matched(Object)
    /// The key was used before; this is what it made, as it is now.
    case replayed(Object)
    /// A distinct conversation of these participants exists with other metadata (R7).
    case conflict(Object)
    /// The id the body names is taken, by this object.
    case idInUse(Object)

    /// The object, whatever became of the creation.
    public var object: Object {
        switch self {
        case .created(let object), .matched(let object), .replayed(let object),
            .conflict(let object), .idInUse(let object):
            object
        }
    }
}

extension CreationOutcome: Equatable where Object: Equatable {}

extension CreationOutcome {
    /// The same outcome about another form of the object.
    func map<Other: Sendable>(
        _ transform: (Object) throws -> Other
    ) rethrows -> CreationOutcome<Other> {
        switch self {
        case .created(let object): .created(try transform(object))
        case .matched(let object): .matched(try transform(object))
        case .replayed(let object): .replayed(try transform(object))
        case .conflict(let object): .conflict(try transform(object))
        case .idInUse(let object): .idInUse(try transform(object))
        }
    }
}
