/// What other processes that share a database say of their changes: where to look, never what is there.
public enum Hint: Hashable, Sendable {
    /// A change is durable; see ``Transaction/hint(_:_:keeping:)``.
    case told(subject: String, number: Int64)

    /// Something may have been said that nobody here has heard: listening begins, or begins anew after
    /// the connection broke. What was committed before this can be read now.
    case missed
}
