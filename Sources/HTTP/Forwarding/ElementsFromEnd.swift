/// The elements of a list field from its end: all lines of that name are one list (H200).
///
/// From the end, because what the nearest proxy appended must be found whatever a client wrote in
/// front of it: an unbalanced quote there ends the walk, and does not swallow what follows.
struct ElementsFromEnd: IteratorProtocol {
    private let octets: [UInt8]
    private var lines: [Range<Int>]
    private let isQuoted: Bool
    /// Where the part of the last line ends that was not given yet; `nil` between two lines.
    private var end: Int?

    /// - Parameter isQuoted: Whether elements may hold quoted strings, and commas inside them.
    init(_ fields: Fields, _ name: FieldName, quoted isQuoted: Bool) {
        let octets = fields.octets
        lines = fields.lines.filter { line in octets.span.matches(name, in: line.name) }
            .map(\.value)
        self.octets = octets
        self.isQuoted = isQuoted
    }

    /// The next element to the left, without blanks around it; empty ones are skipped
    /// (RFC 9110 §5.6.1.2). `nil` at the beginning, and for good at a quote that was never opened.
    mutating func next() -> ArraySlice<UInt8>? {
        while let line = lines.last {
            let end = end ?? line.upperBound
            guard let start = start(of: line.lowerBound..<end) else {
                lines = []
                return nil
            }
            if start == line.lowerBound {
                lines.removeLast()
                self.end = nil
            } else {
                // In front of the comma.
                self.end = start - 1
            }
            let element = octets[start..<end].trimmingBlanks
            if !element.isEmpty { return element }
        }
        return nil
    }

    /// Where the last element of a part of a line begins.
    private func start(of range: Range<Int>) -> Int? {
        var place = range.upperBound
        while place > range.lowerBound {
            let octet = octets[place - 1]
            if octet == UInt8(ascii: ",") { return place }
            place -= 1
            if isQuoted, octet == UInt8(ascii: "\"") {
                guard let quote = opening(in: range.lowerBound..<place) else { return nil }
                place = quote
            }
        }
        return range.lowerBound
    }

    /// The quote that opens the string which ends at the end of a range: the last one that is not
    /// escaped itself, by an odd number of backslashes in front of it.
    private func opening(in range: Range<Int>) -> Int? {
        var place = range.upperBound
        while let quote = octets[range.lowerBound..<place].lastIndex(of: UInt8(ascii: "\"")) {
            let before = octets[range.lowerBound..<quote]
            let escapes = before.reversed().prefix { octet in octet == UInt8(ascii: "\\") }.count
            if escapes % 2 == 0 { return quote }
            place = quote
        }
        return nil
    }
}
