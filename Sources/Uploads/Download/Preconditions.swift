internal import HTTP

/// What a request demands of the state of a content, judged in the order of §9.3.
struct Preconditions: Sendable {
    /// The content as it is.
    let tag: EntityTag
    /// Whole seconds since 1970 UTC.
    let modified: Int64

    enum Verdict: Equatable {
        case proceed
        case notModified
        case failed
    }

    func judge(_ fields: Fields) -> Verdict {
        if let text = fields.joined("If-Match") {
            let isMet =
                text.trimmed == "*" || EntityTag.list(text).contains(where: tag.matchesStrongly)
            if !isMet { return .failed }
        } else if let date = date(fields["If-Unmodified-Since"]), modified > date {
            return .failed
        }
        if let text = fields.joined("If-None-Match") {
            let isSame =
                text.trimmed == "*" || EntityTag.list(text).contains(where: tag.matchesWeakly)
            if isSame { return .notModified }
        } else if let date = date(fields["If-Modified-Since"]), modified <= date {
            return .notModified
        }
        return .proceed
    }

    /// Whether a range may be cut from what the client knows (`If-Range`): a strong tag that is
    /// equal, or exactly the date; anything else sends everything.
    func allowsRange(_ fields: Fields) -> Bool {
        guard let text = fields["If-Range"] else { return true }
        if let other = EntityTag(text) { return tag.matchesStrongly(other) }
        return date(text) == modified
    }

    /// An invalid date is no condition.
    private func date(_ text: String?) -> Int64? { text.flatMap(HTTPDate.parse) }
}
