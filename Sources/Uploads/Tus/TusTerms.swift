/// What was said when an upload was created in tus, and is said again by `HEAD` (§6.4).
struct TusTerms: Sendable, Equatable {
    /// `Upload-Metadata` as it came; `nil` when there was none.
    var metadata: String?
    /// `Upload-Concat` as it came; `nil` for an upload that plays no part in a concatenation.
    var concat: String?

    /// Its bytes are for others to be made from.
    var isPartial: Bool { concat == "partial" }
    /// It was made from others, and takes no bytes.
    var isFinal: Bool { concat != nil && !isPartial }
}
