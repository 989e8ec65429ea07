/// The conditions for users in a list (X9); all of them must hold.
public struct UserFilter: Equatable, Sendable {
    /// Whether the user is suspended; `nil` for either.
    public var isSuspended: Bool?
    /// A text that the id or the display name contains.
    public var text: SearchText?
    /// The creation is later than this moment.
    public var createdAfter: Timestamp?
    /// The creation is earlier than this moment.
    public var createdBefore: Timestamp?

    /// Creates a filter without conditions.
    public init() {}

    /// Whether there is no condition.
    public var isEmpty: Bool { self == UserFilter() }

    /// Whether a user matches.
    public func admits(
        _ user: UserID, displayName: String?, isSuspended: Bool, createdAt: Timestamp
    ) -> Bool {
        if let createdAfter, createdAt <= createdAfter { return false }
        if let createdBefore, createdAt >= createdBefore { return false }
        if let wanted = self.isSuspended, wanted != isSuspended { return false }
        guard let text else { return true }
        return text.isIn(user.text) || displayName.map(text.isIn) ?? false
    }
}

/// A text to search for in other texts without regard to case.
///
/// Both texts are converted to upper and then to lower case, independent of language, so that `SS` finds `ß` and `Σ`
/// finds `ς`; then their Unicode scalars are compared. There is no Unicode normalisation: as in user ids, a letter with
/// a combining accent differs from the accented letter.
public struct SearchText: Equatable, Sendable {
    private let folded: [UInt8]

    /// Accepts a text of at least one character; `nil` for the empty text.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        folded = Self.fold(text)
    }

    /// Whether a text contains this one.
    public func isIn(_ text: String) -> Bool {
        let text = Self.fold(text)
        guard text.count >= folded.count else { return false }
        return (0...text.count - folded.count).contains { start in
            text[start...].starts(with: folded)
        }
    }

    /// Returns the text in the form in which texts are compared, as UTF-8: comparing bytes there is comparing scalars.
    private static func fold(_ text: String) -> [UInt8] {
        Array(text.uppercased().lowercased().utf8)
    }
}
