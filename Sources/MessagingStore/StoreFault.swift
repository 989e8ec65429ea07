/// What the store finds wrong with its own rows; never the caller's mistake.
public enum StoreFault: Error, Equatable, Sendable {
    /// A row or an event holds what this release cannot have written; the text says where.
    case unreadable(String)
    /// Work with a key has waited for something other than the store; nothing of it is kept.
    case strayed
}
