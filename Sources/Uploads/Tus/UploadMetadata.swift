internal import Bytes
internal import HTTP

/// `Upload-Metadata`: what a client states about the content it creates (§6.3).
///
/// ```
/// filename YS5wbmc=, is_private
/// ```
///
/// Pairs of a key and a base64 value, padded or not. Spaces around commas, a missing value and an empty header are
/// allowed.
struct UploadMetadata: Sendable, Equatable {
    /// The maximum length of the header value, in bytes.
    static let limit = 8 << 10

    /// The value as received, for `HEAD`; `nil` when empty.
    var raw: String?
    /// `filename` or `name`; untrusted.
    var fileName: String?
    /// `filetype` or `type`; untrusted.
    var mediaType: String?

    /// Empty metadata.
    init() {}

    /// Parses the value of the header.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` for a malformed pair, a repeated key, invalid UTF-8, or a value longer
    ///   than ``limit``.
    init(_ value: some Collection<UInt8>) throws(UploadError) {
        guard value.count <= UploadMetadata.limit else {
            throw .invalid(
                "Upload-Metadata must be at most \(UploadMetadata.limit) bytes; shorten its values."
            )
        }
        guard let text = String(validating: value, as: UTF8.self) else { throw .malformed }
        if text.trimmed.isEmpty { return }
        raw = text
        var pairs: [[UInt8]: [UInt8]] = [:]
        for pair in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        {
            let (key, value) = try UploadMetadata.pair(Substring(pair))
            guard pairs.updateValue(value, forKey: key) == nil else {
                throw .invalid("Upload-Metadata must name each key once; remove the repeated key.")
            }
        }
        fileName = UploadMetadata.text(of: ["filename", "name"], in: pairs)
        mediaType = UploadMetadata.text(of: ["filetype", "type"], in: pairs)
    }

    private static func pair(_ text: Substring) throws(UploadError) -> ([UInt8], [UInt8]) {
        let halves = text.trimmed.utf8.split(
            separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard (1...2).contains(halves.count) else { throw .malformed }
        let key = Array(halves[0])
        guard !key.isEmpty, !key.contains(UInt8(ascii: "\t")) else { throw .malformed }
        guard halves.count == 2 else { return (key, []) }
        guard let value = decode(Substring(halves[1])) else { throw .malformed }
        return (key, value)
    }

    /// Decodes standard base64 with or without padding.
    private static func decode(_ text: Substring) -> [UInt8]? {
        let missing = text.utf8.last == UInt8(ascii: "=") ? 0 : -text.utf8.count & 3
        return Base64.decode(text + String(repeating: "=", count: missing))
    }

    private static func text(of keys: [String], in pairs: [[UInt8]: [UInt8]]) -> String? {
        for key in keys {
            guard let value = pairs[Array(key.utf8)], !value.isEmpty else { continue }
            return String(validating: value, as: UTF8.self)
        }
        return nil
    }
}

extension UploadError {
    fileprivate static let malformed = UploadError.invalid(

        "Upload-Metadata must be pairs of a key and a base64 value, separated by commas."
    )
}
