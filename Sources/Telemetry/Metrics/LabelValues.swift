/// The values a label may take, known before the first request (H212): what a client sends cannot
/// add one.
public struct LabelValues: Sendable {
    /// The value of everything that was not declared.
    public static let other = "other"

    /// The declared values, then ``other``.
    public let all: [String]
    /// Places of the values of each length. Comparing a literal with itself costs two words, so this
    /// finds a route in a few instructions, where a dictionary would hash all of it.
    private let byLength: [[Int]]

    /// Declares the values, each once.
    public init(_ values: [String]) {
        all = values.filter { value in value != Self.other } + [Self.other]
        var byLength = [[Int]](
            repeating: [], count: 1 + (all.map(\.utf8.count).max() ?? 0))
        for (place, value) in all.enumerated() { byLength[value.utf8.count].append(place) }
        self.byLength = byLength
    }

    /// How many there are.
    public var count: Int { all.count }

    /// The place of a value, or that of ``other``.
    public func place(of value: String) -> Int {
        let length = value.utf8.count
        guard length < byLength.count else { return all.count - 1 }
        for place in byLength[length] where all[place] == value { return place }
        return all.count - 1
    }
}
