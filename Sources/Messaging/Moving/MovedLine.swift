/// A line of an export (X10).
public enum MovedLine: Equatable, Sendable {
    /// The first one: whose records follow.
    case application(Application)
    /// Every other one.
    case record(MovedRecord)
}
