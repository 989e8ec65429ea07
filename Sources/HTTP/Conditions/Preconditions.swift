/// What a request demands of the state of a thing, judged in the order of RFC 9110 §13.2.2 (H100).
///
/// To be asked once everything else would succeed — the caller is known, the thing is there — and
/// before anything is done.
public struct Preconditions: Sendable {
    /// What a request's conditions come to.
    public enum Outcome: Equatable, Sendable {
        /// The request is carried out.
        case proceed
        /// 304: the caller has it already; only for `GET` and `HEAD` (H99).
        case notModified
        /// 412: the thing is not the one the caller means.
        case failed
    }

    /// The thing as it is; a thing without a tag matches `*` alone.
    public let tag: EntityTag?
    /// When it last changed, in whole seconds since 1970 UTC; `nil` where nobody knows.
    public let modified: Int64?

    /// Describes a thing that exists.
    public init(tag: EntityTag?, modified: Int64?) {
        self.tag = tag
        self.modified = modified
    }

    /// Judges a request.
    ///
    /// - Parameter now: Whole seconds since 1970 UTC; a date in the future is no condition (H103).
    public func evaluate(_ method: Method, _ fields: Fields, at now: Int64) -> Outcome {
        if let text = fields.joined("If-Match") {
            guard matches(text, by: EntityTag.matchesStrongly) else { return .failed }
        } else if let date = date(fields["If-Unmodified-Since"]), let modified, modified > date {
            return .failed
        }
        let reads = method == .get || method == .head
        if let text = fields.joined("If-None-Match") {
            guard matches(text, by: EntityTag.matchesWeakly) else { return .proceed }
            return reads ? .notModified : .failed
        }
        guard reads, let date = date(fields["If-Modified-Since"]), date <= now, let modified else {
            return .proceed
        }
        return modified <= date ? .notModified : .proceed
    }

    /// Whether a range may be cut from what the caller knows (`If-Range`, H109).
    ///
    /// A strong tag that is equal, or exactly the date; anything else sends everything.
    public func allowsRange(_ fields: Fields) -> Bool {
        guard let text = fields["If-Range"] else { return true }
        if let other = EntityTag(text) { return tag?.matchesStrongly(other) ?? false }
        return modified != nil && date(text) == modified
    }

    /// Whether the value of an `If-Match` can be one; who sends another one relies on a condition
    /// that nobody can evaluate.
    public static func isReadable(_ text: String) -> Bool {
        text.trimmed == "*" || EntityTag.isList(text)
    }

    private func matches(_ text: String, by compare: (EntityTag) -> (EntityTag) -> Bool) -> Bool {
        if text.trimmed == "*" { return true }
        guard let tag else { return false }
        // Compressed bytes bear a tag of their own and are of the same thing (H102).
        let tags = [tag] + ContentCoding.allCases.map { coding in tag.coded(coding.name) }
        return EntityTag.list(text).contains { other in
            tags.contains { tag in compare(tag)(other) }
        }
    }

    /// An invalid date is no condition.
    private func date(_ text: String?) -> Int64? { text.flatMap(HTTPDate.parse) }
}
