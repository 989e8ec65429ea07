/// The elements of an array.
public struct JSONElements: Sequence, IteratorProtocol, Sendable {
    private let storage: JSONStorage
    private var place: Int
    private let end: Int

    init(of array: JSONValue) {
        storage = array.storage
        place = array.index + 1
        end = array.kind == .array ? Int(array.node.next) : place
    }

    /// The next element; `nil` after the last.
    public mutating func next() -> JSONValue? {
        guard place < end else { return nil }
        let value = JSONValue(storage: storage, index: place)
        place = Int(value.node.next)
        return value
    }
}
