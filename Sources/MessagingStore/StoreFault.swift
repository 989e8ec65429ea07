/// What the store finds wrong with its own rows; never the caller's mistake.
public enum StoreFault: Error, Equatable, Sendable {
    /// A row or an event holds what this release cannot have written; the text says where.
    case unreadable(String)
}
