/// The known name that is closest to an unknown one, for error messages.
public struct NearestName: Equatable, Sendable {
    /// The known name.
    public let name: String
    /// Whether the unknown name is probably a misspelling of it: at most a third of its letters are
    /// edited, at most three, and always one may be.
    public let isLikely: Bool

    /// Bytes of an unknown name that are compared; known names are shorter.
    private static let longest = 64

    /// Finds the name that is reached with the fewest edits, of several the first. When that many edits are no
    /// misspelling, a name that begins with the unknown one is nearer.
    ///
    /// An edit inserts, removes or replaces a letter, or swaps two neighbours. Upper and lower case
    /// are the same letter.
    ///
    /// - Parameters:
    ///   - name: The unknown name, of any length.
    ///   - known: The known names; without any the result is `nil`.
    public init?(to name: String, of known: [String]) {
        let own = Array(name.utf8.prefix(Self.longest + 1)).map(Self.lowercased)
        let names = known.map { known in
            (name: known, edits: Self.edits(own, known.utf8.map(Self.lowercased)))
        }
        guard let nearest = names.min(by: { left, right in left.edits < right.edits }) else {
            return nil
        }
        isLikely =
            own.count <= Self.longest && nearest.edits <= min(3, max(1, own.count / 3))
        let longer = known.first { known in known.utf8.map(Self.lowercased).starts(with: own) }
        self.name = isLikely || own.isEmpty ? nearest.name : longer ?? nearest.name
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The distance of optimal string alignment: the Levenshtein distance with swaps.
    private static func edits(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var lastButOne: [Int] = []
        var last = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var row = [index + 1]
            row.reserveCapacity(last.count)
            for (column, other) in right.enumerated() {
                var edits = min(
                    last[column] + (byte == other ? 0 : 1), last[column + 1] + 1, row[column] + 1)
                if index > 0, column > 0, byte == right[column - 1], left[index - 1] == other {
                    edits = min(edits, lastButOne[column - 1] + 1)
                }
                row.append(edits)
            }
            (lastButOne, last) = (last, row)
        }
        return last[right.count]
    }
}
