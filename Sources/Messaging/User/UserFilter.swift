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

    /// No condition.
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

/// A text to look for in others, in upper or lower case of any script.
///
/// Both texts are turned to upper and then to lower case without regard to a language, so that `ß` is
/// found as `SS` and `ς` as `Σ`; then their Unicode scalars are compared one by one. Nothing is
/// normalised: as in user ids, a letter with a combining accent is another text than the accented letter.
public struct SearchText: Equatable, Sendable {
    private let folded: [UInt8]

    /// A text of at least one character; `nil` for the empty one.
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

    /// In UTF-8 a sequence of scalars is found as a sequence of bytes.
    private static func fold(_ text: String) -> [UInt8] {
        Array(text.uppercased().lowercased().utf8)
    }
}
