/// The members of an object in the order of the text.
public struct JSONMembers: Sequence, IteratorProtocol, Sendable {
    private let storage: JSONStorage
    private var place: Int
    private let end: Int

    init(of object: JSONValue) {
        storage = object.storage
        place = object.index + 1
        end = object.kind == .object ? Int(object.node.next) : place
    }

    /// The next member; `nil` after the last.
    public mutating func next() -> (key: String, value: JSONValue)? {
        guard place < end else { return nil }
        let value = JSONValue(storage: storage, index: place + 1)
        let name = value.text(of: storage.nodes[place])
        place = Int(value.node.next)
        return (name, value)
    }
}
