public import Messaging

/// One page of a list.
public struct Page<Item: Sendable>: Sendable {
    /// The items in list order.
    public let items: [Item]
    /// How many the whole list has.
    public let total: Int64
    /// The conversation whose messages these are: its own id, should an alias have been asked for
    /// (X1.2); `nil` for other lists.
    public let conversation: Conversation.ID?
    /// The conversation behind which a list of conversations starts here: its own id as well; `nil` from the
    /// first one on.
    public let start: Conversation.ID?
    /// Whether it ends before its limit because its items are large; more follow the last one.
    public let isCut: Bool

    /// A page.
    public init(
        items: [Item], total: Int64, in conversation: Conversation.ID? = nil,
        behind start: Conversation.ID? = nil, isCut: Bool = false
    ) {
        self.isCut = isCut
        self.items = items
        self.total = total
        self.conversation = conversation
        self.start = start
    }
}
