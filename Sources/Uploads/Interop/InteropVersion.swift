/// Which revision of the IETF protocol a request speaks (§7.1); its properties are the rows of the
/// table of differences.
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

    /// What answers say in `Upload-Draft-Interop-Version`.
    var named: Int? {
        if case .draft(let number) = self { number } else { nil }
    }

    /// `Upload-Incomplete` instead of `Upload-Complete`, with the opposite meaning.
    var saysIncomplete: Bool { rules == 3 }
    /// An append without a completeness field is refused; before, it was the end.
    var needsCompleteness: Bool { rules >= 7 }
    /// Appends are `application/partial-upload`, and nothing else.
    var needsPartialType: Bool { rules >= 6 }
    /// There are `Upload-Length` and `Upload-Limit`.
    var knowsLengths: Bool { rules >= 6 }
    /// The key of the remaining life in `Upload-Limit`.
    var lifetimeKey: String { rules == 6 ? "expires" : "max-age" }
    /// `104` may tell how far an upload has come.
    var tellsProgress: Bool { rules >= 5 }
    /// A question or a cancellation that states an offset or completeness is refused; later ones
    /// ignore the fields.
    var refusesStatedStatus: Bool { rules <= 6 }
    /// A byte beyond the length fails the whole upload (§4.2).
    var failsOnOverflow: Bool { rules >= 7 }
}
