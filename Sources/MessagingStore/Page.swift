/// One page of a list.
public struct Page<Item: Sendable>: Sendable {
    /// The items in list order.
    public let items: [Item]
    /// How many the whole list has.
    public let total: Int64

    /// A page.
    public init(items: [Item], total: Int64) {
        self.items = items
        self.total = total
    }
}
