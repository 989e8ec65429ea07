/// A line of an export (X10).
public enum MovedLine: Equatable, Sendable {
    /// The first one: whose records follow.
    case application(Application)
    /// A piece of a content that the next record names.
    case bytes(MovedBytes)
    /// Every other one.
    case record(MovedRecord)
}
