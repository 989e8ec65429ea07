/// The result of a `Range` field for content of a known size (RFC 9110 §14.2, H106–H108).
public enum ByteRanges: Equatable, Sendable {
    /// The field is ignored: 200 with the whole content.
    case whole
    /// 206 with one range, or `multipart/byteranges` with several; near ranges are merged, the
    /// order is that of first occurrence, and together they are smaller than the content.
    case parts([Range<Int64>])
    /// 416.
    case unsatisfiable

    /// A field with more elements is ignored as abusive.
    private static let elementLimit = 256
    /// Ranges at most this far apart are merged, because the gap costs less than the head of
    /// another part.
    private static let distance: Int64 = 80

    /// Parses a field; anything but a list of byte ranges is ignored (H107).
    ///
    /// - Parameters:
    ///   - size: The size of the content in bytes.
    ///   - limit: The most ranges after merging; with more the field is ignored (H108).
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
            // The last bytes of empty content are the whole content.
            self = suffixOfNothing ? .whole : .unsatisfiable
            return
        }
        let merged = ByteRanges.merged(ranges)
        let total = merged.reduce(0) { $0 + Int64($1.count) }
        let exceedsContent = elements.count > 1 && total >= size
        self = merged.count > limit || exceedsContent ? .whole : .parts(merged)
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

    /// Parses digits only; a number above 63 bits is beyond the end of every content.
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
            var index = merged.count
            // A merged range may be near others, so search until none is near.
            while let near = merged.firstIndex(where: { isNear($0, range) }) {
                let other = merged.remove(at: near)
                range =
                    min(
                        other.lowerBound, range.lowerBound)..<max(
                        other.upperBound, range.upperBound)
                index = min(index, near)
            }
            merged.insert(range, at: min(index, merged.count))
        }
        return merged
    }

    private static func isNear(_ one: Range<Int64>, _ other: Range<Int64>) -> Bool {
        one.lowerBound - other.upperBound <= distance
            && other.lowerBound - one.upperBound <= distance
    }
}
