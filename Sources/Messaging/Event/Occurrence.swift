/// An event as receivers hear of it: one topic, about one object.
public struct Occurrence: Sendable {
    /// Names one occurrence, and stays the same however often it is told.
    public typealias ID = Identifier<Occurrence>

    /// Its name.
    public let id: ID
    /// What happened.
    public let topic: Topic
    /// When.
    public let at: Timestamp
    /// Who did it; `nil` when the application did, on behalf of nobody.
    public let actor: Sender?

    /// What is to be told.
    public init(id: ID, topic: Topic, at moment: Timestamp, actor: Sender?) {
        self.id = id
        self.topic = topic
        at = moment
        self.actor = actor
    }
}
