/// What the server says to octets that were sent.
enum UploadReceipt: Equatable {
    /// Something is missing.
    case incomplete
    /// It holds all; with the SHA-256 of that in lower-case hexadecimal digits, `nil` where it says none.
    case whole(sha256: String?)

    /// Reads the `ETag` of an answer that says that all is there.
    ///
    /// A proxy that compresses answers makes a tag weak (`W/"…"`); what it says of the content stays true.
    init(wholeWith tag: String?) {
        var text = (tag ?? "")[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        let digits = text.filter { character in character != "\"" }.lowercased()
        let isDigest =
            digits.utf8.count == 64
            && digits.utf8.allSatisfy { octet in "0123456789abcdef".utf8.contains(octet) }
        self = .whole(sha256: isDigest ? digits : nil)
    }
}
