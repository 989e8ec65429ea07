/// The id of a user, chosen by the application (R90).
///
/// Equality, hash and order are those of the UTF-8 bytes (ruling 7): Swift's string comparison
/// would treat two spellings of `é` as one user.
public struct UserID: Sendable {
    /// The id as given, 1 to 128 Unicode scalars.
    public let text: String

    /// Accepts a text of 1 to 128 Unicode scalars without U+0000, which PostgreSQL cannot store; `nil` for any other
    /// text.
    ///
    /// `.` and `..` are not ids (ruling 30): in the path of a URL they are dot-segments, which clients
    /// and proxies remove (RFC 3986 §5.2.4), so nothing of such a user could be addressed.
    public init?(_ text: some StringProtocol) {
        guard !text.isEmpty, text.unicodeScalars.prefix(129).count <= 128, text.isStorable,
            text != ".", text != ".."
        else { return nil }
        self.text = String(text)
    }

    /// An id that is known to be valid.
    init(known text: String) { self.text = text }

    /// An id from a stored row, not validated again; `nil` for an empty text.
    package init?(stored text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
    }
}

extension UserID: Hashable {
    /// Whether both have the same bytes.
    public static func == (left: Self, right: Self) -> Bool {
        let (left, right) = (left.text.utf8Span.span, right.text.utf8Span.span)
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }

    /// Hashes the bytes, eight at a time.
    public func hash(into hasher: inout Hasher) {
        let bytes = text.utf8Span.span
        var word: UInt64 = 0
        for index in bytes.indices {
            word = word << 8 | UInt64(bytes[index])
            if index % 8 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
    }
}

extension UserID: Comparable {
    /// Order of the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension UserID: CustomStringConvertible {
    /// The id as given.
    public var description: String { text }
}
