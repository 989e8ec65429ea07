/// The outcome of creating an object (platform-api 1.9 and 5.1.1).
public enum CreationOutcome<Object: Sendable>: Sendable {
    /// The object was created.
    case created(Object)
    /// A distinct conversation of these participants already existed and is returned (R7).
    case matched(Object)
    /// The replay key of the request was used before; this is the object that was created with it, in its current
    /// state.
    case replayed(Object)
    /// A distinct conversation of these participants exists with other metadata (R7).
    case conflict(Object)
    /// The id proposed by the request already belongs to this object.
    case idInUse(Object)

    /// The object, for every outcome.
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
    /// The same outcome with another representation of the object.
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
