/// What a `Range` field asks of a content of a size (RFC 9110 §14.2, H106–H108).
public enum ByteRanges: Equatable, Sendable {
    /// The field is ignored: 200 with everything.
    case whole
    /// 206, or `multipart/byteranges` for several; merged where they touch, in order of first
    /// appearance, together smaller than the content.
    case parts([Range<Int64>])
    /// 416.
    case unsatisfiable

    /// More elements than this are no honest request; the field is then ignored.
    private static let elementLimit = 256
    /// Two ranges this near cost less as one than a part's head does.
    private static let distance: Int64 = 80

    /// Reads a field; whatever is no list of byte ranges asks for nothing (H107).
    ///
    /// - Parameters:
    ///   - size: Bytes of the content.
    ///   - limit: How many ranges are honoured after merging (H108).
    public init(_ field: String, size: Int64, limit: Int) {
        guard let elements = ByteRanges.elements(field) else {
            self = .whole
            return
        }
        var suffixOfNothing = false
        var ranges: [Range<Int64>] = []
        for element in elements {
            switch element {
            case .from(let first, let last) where first < size:
                ranges.append(first..<(min(last ?? size - 1, size - 1) + 1))
            case .last(let count) where count > 0 && size > 0:
                ranges.append(max(0, size - count)..<size)
            case .last(let count) where count > 0: suffixOfNothing = true
            default: continue
            }
        }
        if ranges.isEmpty {
            // The last bytes of an empty content are all of it.
            self = suffixOfNothing ? .whole : .unsatisfiable
            return
        }
        let merged = ByteRanges.merged(ranges)
        let total = merged.reduce(0) { $0 + Int64($1.count) }
        let isPointless = elements.count > 1 && total >= size
        self = merged.count > limit || isPointless ? .whole : .parts(merged)
    }

    private enum Element {
        case from(Int64, Int64?)
        case last(Int64)
    }

    private static func elements(_ field: String) -> [Element]? {
        let text = field.trimmed
        guard text.utf8.count >= 6, text.prefix(6).lowercased() == "bytes=" else { return nil }
        let words = text.dropFirst(6).split(separator: ",", omittingEmptySubsequences: false)
        guard words.count <= elementLimit else { return nil }
        var elements: [Element] = []
        for word in words.map(\.trimmed) where !word.isEmpty {
            let halves = word.split(
                separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { return nil }
            switch (number(halves[0]), number(halves[1]), halves[0].isEmpty, halves[1].isEmpty) {
            case (nil, let count?, true, false): elements.append(.last(count))
            case (let first?, nil, false, true): elements.append(.from(first, nil))
            case (let first?, let last?, false, false) where first <= last:
                elements.append(.from(first, last))
            default: return nil
            }
        }
        return elements.isEmpty ? nil : elements
    }

    /// Digits only; a number too large for 63 bits lies behind every content.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let significant = text.drop { $0 == "0" }
        return significant.isEmpty ? 0 : Int64(decimal: significant.utf8) ?? .max
    }

    private static func merged(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
        var merged: [Range<Int64>] = []
        for range in ranges {
            var range = range
            var place = merged.count
            // A grown range may reach others, so look again until none is near.
            while let near = merged.firstIndex(where: { isNear($0, range) }) {
                let other = merged.remove(at: near)
                range =
                    min(
                        other.lowerBound, range.lowerBound)..<max(
                        other.upperBound, range.upperBound)
                place = min(place, near)
            }
            merged.insert(range, at: min(place, merged.count))
        }
        return merged
    }

    private static func isNear(_ one: Range<Int64>, _ other: Range<Int64>) -> Bool {
        one.lowerBound - other.upperBound <= distance
            && other.lowerBound - one.upperBound <= distance
    }
}
