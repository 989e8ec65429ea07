/// The text of a statement in the pieces it is written in.
///
/// The same line of the source code gives the same literals each time, which the standard library
/// knows at a glance: two phrases are compared without looking at their characters, and nobody puts a
/// text together that has been prepared before. That was a sixth of what a sending cost.
struct Phrase: Hashable, Sendable {
    /// Literals, and the empty one where a value stands.
    private var pieces: [String] = []
    private var hash = 0

    init(_ text: String) { append(text) }

    mutating func reserve(_ count: Int) { pieces.reserveCapacity(count) }

    mutating func append(_ literal: String) {
        guard !literal.isEmpty else { return }
        pieces.append(literal)
        hash = hash &* 31 &+ literal.utf8.count
    }

    mutating func appendValue() {
        pieces.append("")
        hash = hash &* 31
    }

    mutating func append(_ part: Phrase) {
        for piece in part.pieces { piece.isEmpty ? appendValue() : append(piece) }
    }

    /// Whether it begins with `SELECT`, and so changes no row.
    var isSelect: Bool { pieces.first?.hasPrefix("SELECT") == true }

    /// Whether it may say something of a table; one whose name is part of another name counts, too.
    func names(_ table: String) -> Bool {
        let name = Array(table.utf8)
        return pieces.contains { piece in
            var rest = Array(piece.utf8)[...]
            while let start = rest.firstIndex(of: name[0]) {
                rest = rest[start...]
                if rest.starts(with: name) { return true }
                rest.removeFirst()
            }
            return false
        }
    }

    /// The text with `$1`, `$2` … in place of values.
    var text: String {
        var number = 0
        var text = ""
        for piece in pieces {
            if piece.isEmpty {
                number += 1
                text += "$\(number)"
            } else {
                text += piece
            }
        }
        return text
    }

    static func == (left: Phrase, right: Phrase) -> Bool {
        left.hash == right.hash && left.pieces == right.pieces
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
