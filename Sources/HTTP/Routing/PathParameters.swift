/// What stands in the holes of a path, by their names.
///
/// A path has a few of them, so they are looked through: making a dictionary at each request cost more
/// than all its look-ups.
public struct PathParameters: Equatable, Sendable {
    private let names: [String]
    private let values: [String]

    init(_ names: [String], _ values: [String]) {
        self.names = names
        self.values = values
    }

    /// What stands in a hole, decoded; `nil` where the path has no such hole.
    public subscript(name: String) -> String? {
        names.firstIndex(of: name).map { place in values[place] }
    }
}

extension PathParameters: ExpressibleByDictionaryLiteral {
    /// Holes and what stands in them, in the order of the path.
    public init(dictionaryLiteral holes: (String, String)...) {
        self.init(holes.map(\.0), holes.map(\.1))
    }
}
