/// The application's own name of one user (R90).
///
/// Equality, hash and order are those of the UTF-8 bytes (rulings 7): Swift's string comparison
/// would take two spellings of `é` for one user.
public struct UserID: Sendable {
    /// The name as given, 1 to 128 Unicode scalars.
    public let text: String

    /// Takes any text of 1 to 128 Unicode scalars, none of them U+0000, which no database but the
    /// embedded one holds; `nil` otherwise.
    ///
    /// `.` and `..` are no ids (rulings 30): in the path of a URL they are dot-segments, which clients
    /// and proxies remove (RFC 3986 §5.2.4), so nothing of such a user could be addressed.
    public init?(_ text: some StringProtocol) {
        guard !text.isEmpty, text.unicodeScalars.prefix(129).count <= 128, text.isStorable,
            text != ".", text != ".."
        else { return nil }
        self.text = String(text)
    }

    /// A name as it was written down, by the rules of its day; `nil` for an empty one.
    package init?(stored text: String) {
        guard !text.isEmpty else { return nil }
        self.text = text
    }
}

extension UserID: Hashable {
    /// Equal bytes.
    public static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }
}

extension UserID: Comparable {
    /// Order of the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

extension UserID: CustomStringConvertible {
    /// The name as given.
    public var description: String { text }
}
