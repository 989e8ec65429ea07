/// Which revision of the IETF protocol a request speaks (§7.1).
enum InteropVersion: Hashable, Sendable {
    /// One of those that are spoken here, 3 to 8.
    case draft(Int)
    /// Another number: the rules of 8, without its field in answers and without `104`.
    case other
    /// No number at all, as the RFC will have it: the rules of 8.
    case final

    /// What `Upload-Draft-Interop-Version` names.
    init(number: Int64) {
        self = (3...8).contains(number) ? .draft(Int(number)) : .other
    }

    /// The draft whose rules hold, 3 to 8.
    var rules: Int {
        if case .draft(let number) = self { number } else { 8 }
    }
}
