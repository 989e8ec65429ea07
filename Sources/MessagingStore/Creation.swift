/// What became of a creation (platform-api 1.9 and 5.1.1).
public enum Creation<Object: Sendable>: Sendable {
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

extension Creation: Equatable where Object: Equatable {}
