/// A key under which something was made, so that a late repeat finds it wherever it is repeated; and the
/// id of a message that was deleted, so that nothing brings it back (rulings 12).
public struct MovedKey: Equatable, Sendable {
    /// What it stands for.
    public let kind: Replay.Kind
    /// The key.
    public let key: Replay.Key
    /// The UUID of what was made.
    public let object: Identifier<MovedKey>

    /// A key as stored.
    public init(_ kind: Replay.Kind, _ key: Replay.Key, object: Identifier<MovedKey>) {
        self.kind = kind
        self.key = key
        self.object = object
    }
}
