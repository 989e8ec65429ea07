/// A stored content with its validators, to answer conditional and range requests.
public struct Representation: Sendable {
    /// What to send for a request.
    public enum Selection: Equatable, Sendable {
        /// 200 with the whole content.
        case whole
        /// 206 with these ranges in this order; see ``PartialContent``.
        case parts([Range<Int64>])
        /// 304 with the validators only (H104).
        case notModified
        /// 412.
        case failed
        /// 416 with ``unsatisfiedRange`` (H107).
        case unsatisfiable
    }

    /// The size in bytes of the content as sent.
    private let size: Int64
    /// The entity tag and modification date.
    private let conditions: Preconditions

    /// Describes a content.
    ///
    /// - Parameters:
    ///   - size: The size in bytes.
    ///   - modified: Whole seconds since 1970 UTC.
    public init(size: Int64, tag: EntityTag, modified: Int64) {
        self.size = size
        conditions = Preconditions(tag: tag, modified: modified)
    }

    /// Evaluates a request in the order of RFC 9110 §13.2.2: conditions, then the range (H99–H109).
    ///
    /// Ranges apply only to `GET` and, with `If-Range`, only when the client's copy is current.
    ///
    /// - Parameters:
    ///   - now: Whole seconds since 1970 UTC.
    ///   - limit: The most ranges after merging (H108).
    ///   - isCoded: Whether the content is compressed for this response and so has no ranges
    ///     (H106).
    public func selection(
        for request: Request, at now: Int64, limit: Int = 32, isCoded: Bool = false
    ) -> Selection {
        switch conditions.evaluate(request.method, request.fields, at: now) {
        case .failed: return .failed
        case .notModified: return .notModified
        case .proceed: break
        }
        guard !isCoded, request.method == .get, request.fields.occurrences(of: "Range") == 1,
            let field = request.fields["Range"], conditions.allowsRange(request.fields)
        else { return .whole }
        switch ByteRanges(field, size: size, limit: limit) {
        case .whole: return .whole
        case .parts(let ranges): return .parts(ranges)
        case .unsatisfiable: return .unsatisfiable
        }
    }

    /// The `Content-Range` of a 416 (H98).
    public var unsatisfiedRange: String { "bytes */\(size)" }
}
