/// How a client would like to be served (`Prefer`, RFC 7240 §2).
///
/// Wishes only: what cannot be read is left out, and nobody is refused for it.
public struct Preferences: Sendable {
    private let wishes: [(name: String, value: String)]

    /// Reads all `Prefer` lines; parameters behind a `;` do not matter here.
    public init(_ fields: Fields) {
        let elements = fields.joined("Prefer").flatMap(FieldList.elements) ?? []
        wishes = elements.map { element in
            let wish = element.prefix { character in character != ";" }
            let halves = wish.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map(\.trimmed)
            return (halves[0].lowercased(), halves.count == 2 ? Self.unquoted(halves[1]) : "")
        }
    }

    /// What is wished for under a name, of several the first; `""` without a value.
    public subscript(name: String) -> String? {
        wishes.first { wish in wish.name == name }?.value
    }

    private static func unquoted(_ word: Substring) -> String {
        guard word.count >= 2, word.first == "\"", word.last == "\"" else { return String(word) }
        return String(word.dropFirst().dropLast())
    }
}
