/// What must hold for an object to be stored, so that of two writers one notices the other.
public enum PutCondition: Sendable, Equatable {
    /// Nothing.
    case none
    /// There is none of that key.
    case absent
    /// The object is still the one with this `ETag`.
    case matches(String)
}
