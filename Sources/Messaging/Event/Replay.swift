/// De-duplication of creations by `If-None-Match` (platform-api 1.9).
public enum Replay {
    /// The UUID a caller sends with a creation; it becomes the new object's id when nothing has it.
    public typealias Key = Identifier<Replay>
}
