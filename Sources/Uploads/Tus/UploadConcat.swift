/// `Upload-Concat`: the part an upload plays in a concatenation (§6.10).
enum UploadConcat: Sendable, Equatable {
    /// Longest value of the field, in bytes: it is kept in the record, for the echo.
    static let limit = 4 << 10

    /// Its bytes are for others to be made from; they never become a content by themselves.
    case partial
    /// Made from the uploads these references name, in this order.
    case final([String])

    /// Reads the value of the field: `partial`, or `final;` and references between single blanks.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` for anything else, and for a value longer than
    ///   ``limit``.
    init(_ value: String) throws(UploadError) {
        guard value.utf8.count <= UploadConcat.limit else {
            throw .invalid(
                "Upload-Concat must be at most \(UploadConcat.limit) bytes; list paths instead of absolute URLs."
            )
        }
        if value.utf8.elementsEqual("partial".utf8) {
            self = .partial
            return
        }
        let prefix = "final;".utf8
        guard value.utf8.starts(with: prefix) else { throw .malformed }
        let references = value.utf8.dropFirst(prefix.count).split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard references.allSatisfy({ !$0.isEmpty && $0.allSatisfy(UploadConcat.isOfURL) }) else {
            throw .malformed
        }
        self = .final(references.map { String(Substring($0)) })
    }

    /// Visible ASCII: what else stands in a URL is percent-encoded.
    private static func isOfURL(_ octet: UInt8) -> Bool { (0x21...0x7E).contains(octet) }
}

extension UploadError {
    fileprivate static let malformed = UploadError.invalid(

        "Upload-Concat must be partial, or final; and URLs of partial uploads between single spaces."
    )
}
