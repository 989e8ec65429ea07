/// A content that lies somewhere whole: what a conditional request, or one for a part of it, gets.
public struct Representation: Sendable {
    /// What a request selects.
    public enum Selection: Equatable, Sendable {
        /// 200 with everything.
        case whole
        /// 206 with these, in this order; see ``PartialContent``.
        case parts([Range<Int64>])
        /// 304 with the validators alone (H104).
        case notModified
        /// 412.
        case failed
        /// 416 with ``unsatisfiedRange`` (H107).
        case unsatisfiable
    }

    /// Bytes of the content as it would be sent.
    public let size: Int64
    /// Tag and date of the content.
    public let conditions: Preconditions

    /// Describes a content.
    ///
    /// - Parameters:
    ///   - size: Bytes.
    ///   - modified: Whole seconds since 1970 UTC.
    public init(size: Int64, tag: EntityTag, modified: Int64) {
        self.size = size
        conditions = Preconditions(tag: tag, modified: modified)
    }

    /// Judges a request in the order of RFC 9110 §13.2.2: conditions, then the range (H99–H109).
    ///
    /// Only `GET` has ranges, and only a caller whose copy is this content.
    ///
    /// - Parameters:
    ///   - now: Whole seconds since 1970 UTC.
    ///   - limit: How many ranges are honoured after merging (H108).
    ///   - isCoded: Whether the content is coded for this answer and so has no ranges (H106).
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
