internal import HTTP

/// What a request says about the place of its body (§5.2).
///
/// ```
/// bytes FIRST-LAST/TOTAL    bytes FIRST-LAST/*
/// bytes FIRST-*/TOTAL       bytes FIRST-*/*
/// bytes */TOTAL             bytes */*
/// ```
///
/// The unit is compared without case, blanks around tokens are tolerated, digits are read as §0
/// says. Two more spellings of an empty content are in use: `0-0/0` and `0--1/0`.
enum ContentRange: Equatable, Sendable {
    /// `F-L/T`, `F-L/*`
    case part(first: Int64, last: Int64, total: Int64?)
    /// `F-*/T`, `F-*/*`
    case rest(first: Int64, total: Int64?)
    /// `*/T`, `*/*`; also the spellings of an empty content.
    case query(total: Int64?)

    /// Reads a field value; `nil` when it is none of the forms.
    init?(_ value: String) {
        let value = value.trimmed
        guard value.utf8.count > 5, value.prefix(5).lowercased() == "bytes" else { return nil }
        let rest = value.dropFirst(5)
        guard rest.first == " " || rest.first == "\t" else { return nil }
        let halves = rest.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let (place, size) = (halves[0].trimmed, halves[1].trimmed)
        let total = Int64(decimal: size.utf8)
        guard total != nil || size == "*" else { return nil }
        if place == "*" {
            self = .query(total: total)
        } else {
            self.init(place: place, total: total)
        }
    }

    private init?(place: Substring, total: Int64?) {
        guard let dash = place.firstIndex(of: "-") else { return nil }
        let (from, to) = (place[..<dash].trimmed, place[place.index(after: dash)...].trimmed)
        guard let first = Int64(decimal: from.utf8) else { return nil }
        if total == 0 && first == 0 && (to == "0" || to == "-1") {
            self = .query(total: 0)
        } else if to == "*" {
            if let total, first > total { return nil }
            self = .rest(first: first, total: total)
        } else if let last = Int64(decimal: to.utf8), last >= first, last < total ?? .max {
            self = .part(first: first, last: last, total: total)
        } else {
            return nil
        }
    }
}
