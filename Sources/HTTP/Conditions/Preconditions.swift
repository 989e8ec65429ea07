/// The validators of a resource, with which a request's conditions are evaluated in the order of
/// RFC 9110 §13.2.2 (H100).
///
/// To be evaluated after all other checks — authentication, existence — and before the request has
/// an effect.
public struct Preconditions: Sendable {
    /// The result of evaluating a request's conditions.
    public enum Outcome: Equatable, Sendable {
        /// The request is carried out.
        case proceed
        /// 304: the client's copy is current; only for `GET` and `HEAD` (H99).
        case notModified
        /// 412: a condition is false.
        case failed
    }

    /// The current tag. A resource without a tag matches only `*`.
    private let tag: EntityTag?
    /// When the resource last changed, in whole seconds since 1970 UTC; `nil` when unknown.
    private let modified: Int64?

    /// Describes an existing resource.
    public init(tag: EntityTag?, modified: Int64?) {
        self.tag = tag
        self.modified = modified
    }

    /// Evaluates a request's conditions.
    ///
    /// - Parameter now: Whole seconds since 1970 UTC; a date in the future is ignored (H103).
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

    /// Whether a range may be sent (`If-Range`, H109).
    ///
    /// Requires an equal strong tag or exactly the same date; otherwise everything is sent.
    public func allowsRange(_ fields: Fields) -> Bool {
        guard let text = fields["If-Range"] else { return true }
        if let other = EntityTag(text) { return tag?.matchesStrongly(other) ?? false }
        return modified != nil && date(text) == modified
    }

    /// Whether the value of an `If-Match` is valid. A client that sends an invalid one relies on a
    /// condition that cannot be evaluated.
    public static func isReadable(_ text: String) -> Bool {
        text.trimmed == "*" || EntityTag.isList(text)
    }

    private func matches(_ text: String, by compare: (EntityTag) -> (EntityTag) -> Bool) -> Bool {
        if text.trimmed == "*" { return true }
        guard let tag else { return false }
        // Compressed content has its own tag but is the same resource (H102).
        let tags = [tag] + ContentCoding.allCases.map { coding in tag.coded(coding.name) }
        return EntityTag.list(text).contains { other in
            tags.contains { tag in compare(tag)(other) }
        }
    }

    /// An invalid date is ignored.
    private func date(_ text: String?) -> Int64? { text.flatMap(HTTPDate.parse) }
}
