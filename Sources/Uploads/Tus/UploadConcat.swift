internal import HTTP

/// `Upload-Concat`: the role of an upload in a concatenation (§6.10).
enum UploadConcat: Sendable, Equatable {
    /// The maximum length of the value in bytes; it is stored in the record and returned by `HEAD`.
    static let limit = 4 << 10

    /// A partial upload; it never becomes content by itself.
    case partial
    /// A concatenation of the referenced uploads, in this order.
    case final([String])

    /// Parses the value of the header: `partial`, or `final;` and references separated by single spaces.
    ///
    /// - Throws: ``UploadError/invalid(_:)`` for anything else, and for a value longer than ``limit``.
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

    /// Visible ASCII; other characters of a URL are percent-encoded.
    private static func isOfURL(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
}

extension UploadError {
    fileprivate static let malformed = UploadError.invalid(

        "Upload-Concat must be partial, or final; and URLs of partial uploads between single spaces."
    )
}

/// The URL of an upload in `Upload-Concat`: absolute, or relative to the request (§6.10).
enum UploadReference {
    /// The token of the referenced upload.
    ///
    /// The authority must be one of this server. The scheme and the path in front of `/uploads` are not compared,
    /// because a proxy may change both.
    ///
    /// - Parameters:
    ///   - reference: As received.
    ///   - path: The path of the request, to which a relative reference is relative.
    ///   - authorities: Host and port of the request and of the public base.
    /// - Throws: ``UploadError/invalid(_:)`` for another host or a malformed URL, ``UploadError/notFound`` when it
    ///   names no upload.
    static func token(
        _ reference: String, from path: String, authorities: [String]
    ) throws(UploadError) -> UploadToken {
        let text = Substring(reference)
        let target: Substring
        if let authorityStart = try start(ofAuthority: text) {
            let rest = text[authorityStart...]
            let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
            let authority = rest[..<end].lowercased()
            guard authorities.contains(where: { $0.lowercased() == authority }) else {
                throw .invalid(
                    "Upload-Concat names an upload of another host; list URLs of this server only.")
            }
            target = rest[end...]
        } else if text.utf8.first == UInt8(ascii: "/") {
            target = text
        } else {
            target = path[...(path.lastIndex(of: "/") ?? path.startIndex)] + text
        }
        guard let token = token(inPath: target) else { throw .notFound }
        return token
    }

    /// The index of the host; `nil` for a reference without one.
    private static func start(
        ofAuthority text: Substring
    ) throws(UploadError) -> Substring.Index? {
        if text.utf8.starts(with: "//".utf8) {
            return text.utf8.index(text.startIndex, offsetBy: 2)
        }
        // A colon before the first slash ends a scheme (RFC 3986 §4.2).
        let head = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let colon = head.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: colon)...]
        guard ["http", "https"].contains(text[..<colon].lowercased()),
            rest.utf8.starts(with: "//".utf8)
        else {
            throw .invalid(
                "Upload-Concat lists something that is not an http or https URL; list URLs of uploads."
            )
        }
        return rest.utf8.index(rest.startIndex, offsetBy: 2)
    }

    /// The last two segments must be `uploads` and the token.
    private static func token(inPath path: Substring) -> UploadToken? {
        var segments: [Substring] = []
        for segment in path.split(separator: "/") {
            switch segment {
            case ".": continue
            case "..": _ = segments.popLast()
            default: segments.append(segment)
            }
        }
        guard segments.count >= 2, segments[segments.count - 2] == "uploads" else { return nil }
        return UploadToken(String(segments[segments.count - 1]))
    }
}
